/** The harness itself: a team of two hosts is two hosts, one of two processes has its children elsewhere, time moves only as far as it has to, and nothing is left behind. */
import { describe, expect, it } from "vitest";
import { openedIn } from "./journal-queries.ts";
import { calling, delegate } from "./scripted-agents.ts";
import { createSteppingClock } from "./stepping-clock.ts";
import { type TeamOptions, teamSizes, withTeam } from "./team.ts";

const agents = [{ id: "main", subagents: { allow: ["helper"] } }, { id: "helper" }];
const tasks = ["a", "b", "c", "d"];

it("spreads the runs of a session over its hosts", async () => {
  const gate = Promise.withResolvers<void>();
  let atWork = 0;
  const answer = async ({ origin }: { origin: { agent: string; step: number } }) => {
    if (origin.agent === "main") {
      return origin.step === 1 ? calling(...tasks.map((task) => delegate("helper", task))) : "done";
    }
    atWork += 1;
    // More than one host can have at work at once.
    if (atWork === 3) gate.resolve();
    await gate.promise;
    return "helped";
  };
  await withTeam({ agents, answer, hosts: 2, capacity: 2 }, async (team) => {
    const session = await team.begin("do it");
    expect(await session.response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 5 } } });
    const entries = (await team.tree(session)).flat();
    expect(new Set(entries.map(({ host }) => host))).toEqual(new Set(["host-1", "host-2"]));
    expect((await team.rows(session.session)).runs).toHaveLength(5);
  });
});

it("answers by scripts, in exactly their time", async () => {
  const clock = createSteppingClock();
  const scenario = {
    main: [
      {
        steps: [
          { latencyMs: 1_000, calls: [{ tool: "delegate", args: { agent: "helper", task: "a" } }] },
          { latencyMs: 500, text: "done" },
        ],
      },
    ],
    helper: [{ steps: [{ latencyMs: 7_000, text: "helped" }] }],
  };
  await withTeam({ agents, scenario, clock }, async (team) => {
    const response = await team.ask("do it");
    expect(response).toMatchObject({ status: "completed", details: "done" });
    expect(response.metrics.durationMs).toBe(8_500);
  });
});

it("resumes its work with other hosts", async () => {
  let tries = 0;
  const reached = Promise.withResolvers<void>();
  const answer = () => {
    tries += 1;
    if (tries > 1) return "done";
    reached.resolve();
    return new Promise<string>(() => {});
  };
  await withTeam({ answer }, async (team) => {
    const session = await team.begin("do it");
    await reached.promise;
    await team.restart();
    expect(await session.response).toMatchObject({ status: "completed" });
    const hosts = (await team.entries(session)).map(({ host }) => host);
    expect([hosts[0], hosts.at(-1)]).toEqual(["host-1", "host-2"]);
  });
});

describe.each(teamSizes.filter(({ processes }) => processes === 2))("with $what", (size) => {
  const family: TeamOptions = {
    ...size,
    agents: [...agents.slice(0, 1), { id: "helper", subagents: { allow: ["other"] } }, { id: "other" }],
    answer: ({ origin: { agent, step } }) => {
      const child = agent === "main" ? "helper" : "other";
      return step === 1 && agent !== "other" ? calling(delegate(child, "help")) : `${agent} is done`;
    },
  };

  it("the parent runs here, and all its descendants in the other process", async () => {
    await withTeam(family, async (team) => {
      const session = await team.begin("do it");
      expect(await session.response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 3 } } });
      const tree = await team.tree(session);
      expect(
        tree.map((entries) => [openedIn(entries).request.agent, [...new Set(entries.map(({ host }) => host))]]),
      ).toEqual([
        ["main", ["host-1"]],
        ["helper", ["far-1"]],
        ["other", ["far-1"]],
      ]);
    });
  });

  it("time passes for both, and is the same at every moment", async () => {
    const clock = createSteppingClock();
    const answer: TeamOptions["answer"] = async (question, signal) => {
      await new Promise<void>((resolve) => clock.after(3_000, resolve));
      return (await family.answer?.(question, signal)) ?? "";
    };
    await withTeam({ ...family, answer, clock }, async (team) => {
      const session = await team.begin("do it");
      await clock.until(session.response);
      const tree = await team.tree(session);
      const times = tree.map((entries) => [entries[0], entries.at(-1)].map((entry) => (entry?.at ?? 0) - 1_000_000));
      expect(times).toEqual([
        [0, 15_000],
        [3_000, 12_000],
        [6_000, 9_000],
      ]);
    });
  });
});
