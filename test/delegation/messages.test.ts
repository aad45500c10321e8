/** Tests the messages of a tree of runs on the bus, and the tree that the recorder makes of the journal. */
import { decode, SettledMessage } from "@troupe/core/internal";
import { openSqlite } from "@troupe/recorder/internal";
import { describe, expect, it } from "vitest";
import { until } from "../harness/until.ts";
import { calling, delegate } from "./scripted-agents.ts";
import { type TeamOptions, teamSizes, withTeam } from "./team.ts";

const family: TeamOptions = {
  agents: [
    { id: "main", subagents: { allow: ["helper"] } },
    { id: "helper", subagents: { allow: ["other"] } },
    { id: "other" },
  ],
  answer: ({ origin: { agent, step } }) => {
    const child = agent === "main" ? "helper" : "other";
    return step === 1 && agent !== "other" ? calling(delegate(child, `help ${agent}`)) : `${agent} is done`;
  },
};

describe.each(teamSizes)("with $what", (size) => {
  it("the message of each run on its subject has the whole response", async () => {
    await withTeam({ ...family, ...size }, async (team) => {
      const { bus, subjects } = team.wire;
      const settled = new Map<string, SettledMessage["response"]>();
      const subscription = await bus.subscribe(subjects.all.settled, ({ subject, bytes }) => {
        const message = decode(SettledMessage, bytes, "settled message");
        expect(subject).toBe(subjects.settled(message.run));
        settled.set(message.run, message.response);
      });
      const session = await team.begin("do it");
      expect(await session.response).toMatchObject({ status: "completed", details: "main is done" });
      await until(() => settled.size === 3);
      const tree = await team.tree(session);
      expect([...settled.values()].map((response) => response?.agent)).toEqual(["other", "helper", "main"]);
      const journaled = tree.flat().flatMap((entry) => (entry.kind === "run.settled" ? [entry.response] : []));
      expect(journaled).toHaveLength(3);
      for (const response of journaled) expect(settled.get(response.runId)).toEqual(response);
      subscription.unsubscribe();
    });
  });

  it("the record has the row of each run below the row of its parent, with its request and response", async () => {
    await withTeam({ ...family, ...size }, async (team) => {
      const session = await team.begin("do it");
      await session.response;
      await team.rows(session.session);
      const database = openSqlite(team.recordFile, { readOnly: true });
      const rows = database
        .prepare<[], object>(
          `SELECT m.agent_role, m.agent_depth, p.agent_role AS parent, m.request_content, m.response_content, m.status
           FROM messages m LEFT JOIN messages p ON p.id = m.parent_message_id ORDER BY m.agent_depth`,
        )
        .all();
      database.close();
      expect(rows.map((row) => Object.values(row))).toEqual([
        ["main", 0, null, "do it", "main is done", "completed"],
        ["helper", 1, "main", "help main", "helper is done", "completed"],
        ["other", 2, "helper", "help helper", "other is done", "completed"],
      ]);
    });
  });
});
