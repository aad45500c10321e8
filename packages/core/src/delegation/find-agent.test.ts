/** The search over the agents of a run is pure: the same question always has the same answer. */
import { describe, expect, test } from "vitest";
import { findAgents } from "./find-agent.ts";

const targets = [
  { id: "code-reviewer", description: "Judges a change before it is kept." },
  { id: "sql-expert", description: "Tunes slow database queries and schemas." },
  { id: "postgres", description: "Operates a database server: backups, upgrades, replication." },
  { id: "translator", description: `Translates texts. ${"It knows many languages. ".repeat(100)}` },
];

function search(query: string): { agents: { agent: string; description: string }[]; found: number; of: number } {
  const found = findAgents(targets, { query });
  if ("error" in found) throw new Error(found.error);
  return JSON.parse(found.output);
}

describe("find_agent", () => {
  test.each([
    ["words of a description", "slow database queries", ["sql-expert", "postgres"]],
    ["a word of an id", "reviewer", ["code-reviewer"]],
    ["another form of a word", "translate", ["translator"]],
    ["capital letters", "REPLICATION", ["postgres"]],
    ["the exact name", "postgres", ["postgres"]],
    ["a word far behind the beginning of a description", "languages", ["translator"]],
    ["words that no agent has", "gardening", []],
  ])("finds by %s", (_, query, ids) => {
    expect(search(query).agents.map(({ agent }) => agent)).toEqual(ids);
  });

  test("returns at most ten agents, with descriptions of at most 1,000 characters, and the number of all", () => {
    const many = Array.from({ length: 400 }, (_, i) => ({
      id: `a${String(i).padStart(3, "0")}`,
      description: `${"x y ".repeat(5_000)}mail`,
    }));
    const found = findAgents(many, { query: "mail" });
    const { output } = found as { output: string };
    expect(output.length).toBeLessThan(11_000);
    expect(JSON.parse(output)).toMatchObject({ found: 400, of: 400, agents: { length: 10, 0: { agent: "a000" } } });
  });

  test("ranks equally good agents by their ids, in any order of the targets", () => {
    const query = { query: "database" };
    expect(findAgents(targets.toReversed(), query)).toEqual(findAgents(targets, query));
  });

  test.each([[{}], [{ query: "" }], [{ query: "  " }], [{ query: 1 }], [null], [{ query: "x".repeat(501) }]])(
    "refuses %j and names the field",
    (args) => {
      expect(findAgents(targets, args)).toMatchObject({
        error: expect.stringMatching(/^find_agent: (query|arguments): /),
      });
    },
  );
});
