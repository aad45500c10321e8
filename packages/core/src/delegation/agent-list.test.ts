/** The list of agents stays within its token budget, whatever their number and descriptions. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listAgents, shorten } from "./agent-list.ts";

const sentence = "Reviews a change for mistakes, for risky shortcuts, and for missing tests.";
const about = Array.from({ length: 20 }, () => sentence).join(" ");
const agents = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `agent-${String(i).padStart(3, "0")}`, description: about }));

const tokensOf = (text: string): number => text.length / 4;

describe("the list of agents", () => {
  test.each([
    { count: 0, ids: true, isShortened: false, longest: 0, names: 0 },
    { count: 8, ids: true, isShortened: false, longest: 315, names: 8 },
    { count: 20, ids: true, isShortened: false, longest: 315, names: 20 },
    { count: 32, ids: true, isShortened: true, longest: 165, names: 32 },
    { count: 60, ids: true, isShortened: true, longest: 95, names: 60 },
    { count: 200, ids: false, isShortened: true, longest: 8_000, names: 200 },
    { count: 403, ids: false, isShortened: true, longest: 8_000, names: 403 },
    { count: 2_000, ids: false, isShortened: true, longest: 8_000, names: 726 },
  ])("with $count agents", ({ count, ids, isShortened, longest, names }) => {
    const given = agents(count);
    const list = listAgents(given);
    expect(list.ids).toEqual(ids ? given.map(({ id }) => id) : null);
    expect(list.isShortened).toBe(isShortened);
    expect(Math.max(...list.text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(longest);
    expect(list.text.match(/agent-\d+/g) ?? []).toHaveLength(names);
    expect(list.text.includes(" more")).toBe(names < count);
    expect(tokensOf(list.text)).toBeLessThanOrEqual(2_000);
  });

  test("has another budget if it is configured", () => {
    expect(listAgents(agents(8), 100).text).toBe(
      agents(8)
        .map(({ id }) => id)
        .join(", "),
    );
    expect(listAgents(agents(8), 10).text).toBe("agent-000, agent-001 and 6 more");
    expect(listAgents(agents(403), 1_000_000)).toMatchObject({ isShortened: false });
    expect(listAgents(agents(8), 0)).toMatchObject({ ids: null, isShortened: true });
  });

  test("has the hint of an agent behind its description", () => {
    const hint = "12 of 14 succeeded, median 40 s";
    expect(listAgents([{ id: "a", description: "Does it.", hint }]).text).toBe(`- a: Does it. (${hint})`);
  });

  test("never exceeds the budget for names, and always says how many it leaves out", () => {
    const id = fc.string({ minLength: 1, maxLength: 30, unit: fc.constantFrom(..."abc-") });
    fc.assert(
      fc.property(fc.array(fc.record({ id, description: fc.string() })), fc.nat(300), (given, tokensMax) => {
        const { text, ids } = listAgents(given, tokensMax);
        const more = Number(/ ?and (\d+) more$/.exec(text)?.[1] ?? 0);
        if (ids !== null) expect(tokensOf(text)).toBeLessThanOrEqual(tokensMax);
        else if (more < given.length) expect(tokensOf(text)).toBeLessThanOrEqual(tokensMax);
      }),
    );
  });
});

describe("a description", () => {
  test.each([
    ["that fits stays, on one line", "a\n  b", 10, "a b"],
    ["ends after a whole sentence", "One two three. Four five six.", 20, "One two three."],
    ["ends after a whole word, if a sentence would be short", "No. Every other word is here.", 20, "No. Every other…"],
    ["ends within a word that is too long", "abcdefghij", 5, "abcd…"],
    ["is never cut within a character", "abc😀def", 5, "abc…"],
    ["loses the comma before the cut", "One, two, three four", 10, "One, two…"],
  ])("%s", (_, text, lengthMax, shortened) => {
    expect(shorten(text, lengthMax)).toBe(shortened);
    expect(shorten(text, lengthMax).length).toBeLessThanOrEqual(lengthMax);
  });
});
