/**
 * Tests an approval that a grandchild requests: the request names the whole path of agents, and the wait makes no
 * ancestor time out.
 */
import { ApprovalAnswer } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { endsWith, openedIn, plannedBy, responseIn } from "./journal-queries.ts";
import { type Answer, call, calling, delegate, toolResultsIn } from "./scripted-agents.ts";
import { createSteppingClock } from "./stepping-clock.ts";
import { teamSizes, withTeam } from "./team.ts";

const limits = { maxDurationMs: 60_000 };
const agents = [
  { id: "main", subagents: { allow: ["lead"] }, limits },
  { id: "lead", subagents: { allow: ["helper"] }, limits },
  { id: "helper", limits },
];

describe.each(teamSizes)("with $what", (size) => {
  // Between processes each moment takes a little real time: there a sixth of an hour has to do for one.
  const hourMs = 3_600_000 / (size.processes === 2 ? 6 : 1);

  it.each([
    { approved: true, hears: "deployed to prod" },
    { approved: false, hears: "denied by Ada: not today" },
  ])("an answer ($approved) after hours comes before every deadline", async ({ approved, hears }) => {
    const clock = createSteppingClock();
    const answer: Answer = async (question) => {
      const { agent, step } = question.origin;
      await new Promise<void>((resolve) => clock.after(5_000, resolve));
      if (step > 1) return toolResultsIn(question)[0]?.text ?? "";
      if (agent === "helper") return calling(call("deploy", { to: "prod" }));
      return calling(delegate(agent === "main" ? "lead" : "helper", "get it out"));
    };
    await withTeam({ ...size, agents, answer, clock }, async (team) => {
      const session = await team.begin("go");
      await clock.pass(15_000);
      const [lead] = await plannedBy(team, session);
      const [helper] = await plannedBy(team, lead as NonNullable<typeof lead>);
      await team.entriesOnce(helper as NonNullable<typeof helper>, endsWith("run.parked"));
      await team.entriesOnce(session, endsWith("child.waiting"));
      const { approvals } = await team.rowsOnce(session.session, (rows) => rows.approvals.length === 1);
      expect(approvals).toMatchObject([
        {
          agent: "helper",
          path: ["main", "lead", "helper"],
          tool: "deploy",
          args: { to: "prod" },
          risk: "high",
          state: "waiting",
        },
      ]);

      // Many times their deadline, over which a host is replaced as well.
      await clock.pass(hourMs);
      await team.restart();
      await clock.pass(hourMs / 2);
      const given = ApprovalAnswer.parse({ approved, by: "Ada", ...(approved ? {} : { reason: "not today" }) });
      await team.service.answer(approvals[0]?.id ?? "", given);
      const response = await clock.until(session.response);

      expect(response.status).toBe("completed");
      expect(response.details).toContain(hears);
      const tree = await team.tree(session);
      expect(tree.map((entries) => openedIn(entries).request.agent)).toEqual(["main", "lead", "helper"]);
      for (const entries of tree) {
        const { metrics } = responseIn(entries);
        expect(metrics.waitedMs).toBeGreaterThanOrEqual(1.5 * hourMs - 1_000);
        expect(metrics.durationMs - metrics.waitedMs).toBeLessThanOrEqual(60_000);
      }
    });
  });

  it("a run that waits for an approval waits without a limit", async () => {
    const clock = createSteppingClock();
    const answer: Answer = ({ origin }) => {
      if (origin.step > 1) return "done";
      if (origin.agent === "helper") return calling(call("deploy", { to: "prod" }));
      return calling(delegate(origin.agent === "main" ? "lead" : "helper", "get it out"));
    };
    await withTeam({ ...size, agents, answer, clock }, async (team) => {
      const session = await team.begin("go");
      await clock.pass(1_000);
      await team.entriesOnce(session, endsWith("child.waiting"));
      const before = (await team.tree(session)).map((entries) => entries.length);
      await clock.pass(6 * hourMs);
      expect((await team.tree(session)).map((entries) => entries.length)).toEqual(before);
      expect((await team.rows(session.session)).approvals).toMatchObject([{ state: "waiting" }]);
      await team.service.cancel(session.session, "forget it");
      expect(await clock.until(session.response)).toMatchObject({ status: "cancelled" });
      expect((await team.rows(session.session)).approvals).toMatchObject([{ state: "withdrawn" }]);
    });
  });
});
