/** A run with hundreds of agents reads a short list, finds the others by a search, and can delegate to all of them. */
import { describe, expect, it } from "vitest";
import { casesOf } from "../harness/long.ts";
import { askedOf } from "./journal-queries.ts";
import { type Answer, call, calling, delegate, toolResultsIn } from "./scripted-agents.ts";
import { teamSizes, withTeam } from "./team.ts";

const id = (i: number): string => `specialist-for-the-part-number-${String(i).padStart(3, "0")}`;
const count = 400;
const agents = [
  { id: "main", subagents: { allow: ["*" as const], deny: [id(398)] } },
  ...Array.from({ length: count }, (_, i) => ({ id: id(i), description: `Knows the part ${i} of the machine.` })),
  { id: "zither", description: "Tunes zithers and harps." },
];

// Where parent and children are in two processes, the list and the search work across the wire.
describe.each(casesOf(teamSizes, ({ hosts }) => hosts === 1))("with $what", (size) => {
  it("an agent that the list leaves out is found by words of its description, and does the work", async () => {
    const answer: Answer = (question) => {
      const { origin } = question;
      if (origin.agent !== "main") return "tuned";
      if (origin.step === 1) return calling(call("find_agent", { query: "harps" }));
      if (origin.step > 2) return "done";
      const found = JSON.parse(toolResultsIn(question)[0]?.text ?? "");
      return calling(delegate(found.agents[0].agent, "tune mine"));
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      expect(await team.ask("go")).toMatchObject({ status: "completed", metrics: { subtree: { runs: 2 } } });
      expect(askedOf(team, "zither")).toHaveLength(1);
      const [first] = askedOf(team, "main");
      const request = (first?.system ?? "") + JSON.stringify(first?.tools);
      expect(request).not.toContain("zither");
      expect(request).toMatch(/ and \d+ more/);
      const schema = first?.tools.find(({ name }) => name === "delegate")?.inputSchema;
      expect(schema).toMatchObject({ properties: { agent: { type: "string" } } });
      expect(JSON.stringify(schema)).not.toContain('enum":["specialist');
    });
  });

  it("an agent that the grant excludes is neither found nor started, and the error names similar agents", async () => {
    const answer: Answer = ({ origin }) => {
      if (origin.step === 1) return calling(call("find_agent", { query: "part 398" }), delegate(id(398), "go"));
      return "done";
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      expect(await team.ask("go")).toMatchObject({ status: "completed", metrics: { subtree: { runs: 1 } } });
      const [found, refused] = askedOf(team, "main").flatMap(toolResultsIn);
      expect(found?.text).not.toContain(id(398));
      expect(JSON.parse(found?.text ?? "")).toMatchObject({ of: count });
      const { message } = JSON.parse(refused?.text ?? "").error;
      expect(message).toMatch(
        /^you cannot delegate to "specialist-for-the-part-number-398"; similar names: .*; find_agent searches the 400 agents/,
      );
      expect(message.length).toBeLessThan(300);
    });
  });
});
