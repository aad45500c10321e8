/** A parent checks the results of its children in its folder, and a request can make a delegation mandatory. */
import { describe, expect, it } from "vitest";
import { askedOf, wordsIn } from "./journal-queries.ts";
import { type Answer, call, delegate } from "./scripted-agents.ts";
import { teamSizes, withTeam } from "./team.ts";

const childVerifiers = [
  { name: "files-exist", params: { paths: ["corpus.json"] }, agent: "writer", words: ["report"] },
];
const main = { id: "main", subagents: { allow: ["writer"] }, childVerifiers };
const agents = [main, { id: "writer" }];

/** Delegates, then plays the given steps. The writer claims to be done and has written nothing. */
function delegating(...steps: ReturnType<Answer>[]): Answer {
  return ({ origin }) => {
    if (origin.agent === "writer") return "the report is saved";
    return origin.step === 1 ? { calls: [delegate("writer", "write the report")] } : (steps[origin.step - 2] ?? "done");
  };
}

const saves = { calls: [call("write", { path: "corpus.json", content: "{}" })] };

describe.each(teamSizes)("with $what", (size) => {
  it("a missing file puts a COMPLIANCE ERROR into the conversation; the parent supplies the file and completes", async () => {
    await withTeam({ ...size, agents, answer: delegating(saves, "all is there") }, async (team) => {
      const response = await team.ask("write it");
      expect(response).toMatchObject({ status: "completed", details: "all is there" });
      const questions = askedOf(team, "main").map(wordsIn);
      expect(questions[1]).toContain("COMPLIANCE ERROR: ");
      expect(questions[1]).toContain("- writer: the file corpus.json is missing");
      const message = askedOf(team, "main")[1]?.messages.at(-1)?.text ?? "";
      const entries = await team.entries({ session: response.sessionId, run: response.runId });
      expect(entries.flatMap((entry) => ("events" in entry ? (entry.events ?? []) : []))).toMatchObject([
        { name: "subagent_compliance_failed", fields: { missing_file: "corpus.json", child_agent: "writer" } },
        { name: "subagent_compliance_message_injected", fields: { error: message.slice(0, 200) } },
        { name: "subagent_compliance_verified", fields: { child_agent: "writer", verifier: "files-exist" } },
      ]);
    });
  });

  it("a parent that ignores it fails with the error of the check", async () => {
    await withTeam({ ...size, agents, answer: delegating() }, async (team) => {
      expect(await team.ask("write it")).toMatchObject({
        status: "failed",
        error: { type: "verification", message: "the file corpus.json is missing" },
      });
    });
  });

  it("an unknown check counts as failed", async () => {
    const unknown = [{ name: "no-such-check", params: {}, agent: null, words: [] }];
    const odd = [{ ...main, childVerifiers: unknown }, { id: "writer" }];
    await withTeam({ ...size, agents: odd, answer: delegating() }, async (team) => {
      expect(await team.ask("write it")).toMatchObject({ status: "failed", error: { type: "verification" } });
    });
  });

  it("an answer without the mandatory delegation is refused, and the run completes after it", async () => {
    const triggers = [{ words: ["report"], agent: "writer", after: [] }];
    const answer: Answer = ({ origin }) => {
      if (origin.agent === "writer") return "written";
      if (origin.step === 2) return { calls: [delegate("writer", "write it")] };
      return origin.step === 1 ? "I did it myself" : "the writer did it";
    };
    const led = [{ id: "main", subagents: { allow: ["writer"] }, triggers }, { id: "writer" }];
    await withTeam({ ...size, agents: led, answer }, async (team) => {
      expect(await team.ask("a report, please")).toMatchObject({ status: "completed", details: "the writer did it" });
      expect(wordsIn(askedOf(team, "main")[1] as NonNullable<ReturnType<typeof askedOf>[number]>)).toContain(
        "so writer has to do this work",
      );
    });
  });
});
