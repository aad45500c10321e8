import { afterEach, describe, expect, it, vi } from "vitest";
import type { Script } from "../host/host-deps.test-helper.ts";
import { createGate, done, startTeam, stopTeams } from "./team.test-helper.ts";

afterEach(stopTeams);

describe("a fan-out", () => {
  it("returns responses in the order of the tasks, failures included", async () => {
    const others = Promise.withResolvers<void>();
    const asked = new Set<string>();
    const script: Script = async ({ origin }) => {
      asked.add(origin.task);
      if (origin.task === "2") throw new Error("broken");
      // The first task ends last.
      if (origin.task === "0") await others.promise;
      return { text: `did ${origin.task}` };
    };
    const { team } = await startTeam(script);
    const tasks = ["0", "1", "2", "3"].map((task) => ({ agent: task === "1" ? "nobody" : "a", task }));
    const fanOut = team.fanOut(tasks, { maxConcurrent: 4 });
    await vi.waitUntil(() => asked.has("0") && asked.has("3") && team.active.size === 1);
    others.resolve();
    await expect(fanOut).resolves.toMatchObject([
      { request: "0", status: "completed" },
      { request: "1", status: "rejected" },
      { request: "2", status: "failed" },
      { request: "3", status: "completed" },
    ]);
  });

  it.each([
    [undefined, 3],
    [1, 1],
    [7, 7],
    [100, 20],
  ])("with maxConcurrent %s of 20 tasks runs %i at once, never more", async (maxConcurrent, expected) => {
    const full = Promise.withResolvers<void>();
    const atWork: number[] = [];
    let working = 0;
    const script: Script = async () => {
      working += 1;
      atWork.push(working, team.active.size);
      // No task continues until the maximum number of tasks is running.
      if (working === expected) full.resolve();
      await full.promise;
      await new Promise((resolve) => setImmediate(resolve));
      working -= 1;
      return { text: "done" };
    };
    const { team } = await startTeam(script);
    const tasks = Array.from({ length: 20 }, (_, i) => ({ agent: "a", task: `${i}` }));
    const responses = await team.fanOut(tasks, maxConcurrent === undefined ? {} : { maxConcurrent });
    expect(responses.every(({ success }) => success)).toBe(true);
    expect(Math.max(...atWork)).toBe(expected);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3"])(
    "refuses maxConcurrent %s",
    async (maxConcurrent) => {
      const { team, deps } = await startTeam(done);
      const fanOut = team.fanOut([{ agent: "a", task: "x" }], { maxConcurrent: maxConcurrent as number });
      await expect(fanOut).rejects.toMatchObject({
        code: "USAGE",
        message: expect.stringContaining(`${maxConcurrent}`),
      });
      expect(deps.modelCalls).toEqual([]);
    },
  );

  it("of no tasks is empty", async () => {
    expect(await (await startTeam(done)).team.fanOut([])).toEqual([]);
  });

  it("stops by its signal: running tasks are cancelled, queued tasks never start", async () => {
    const gate = createGate();
    const { team, deps } = await startTeam(gate.script);
    const stop = new AbortController();
    const tasks = ["0", "1", "2", "3"].map((task) => ({ agent: "a", task }));
    const fanOut = team.fanOut(tasks, { maxConcurrent: 2, signal: stop.signal });
    await gate.reached(2);
    stop.abort("enough");
    expect((await fanOut).map(({ status, error }) => [status, error?.message])).toEqual(
      tasks.map(() => ["cancelled", expect.stringContaining("enough")]),
    );
    expect(deps.modelCalls).toHaveLength(2);
  });

  it("stops one task by its own signal and not the others", async () => {
    const gate = createGate();
    const { team } = await startTeam(gate.script);
    const stop = new AbortController();
    const fanOut = team.fanOut([
      { agent: "a", task: "0", signal: stop.signal },
      { agent: "a", task: "1" },
    ]);
    await gate.reached(2);
    stop.abort();
    await vi.waitUntil(() => team.active.size === 1);
    gate.open();
    expect((await fanOut).map(({ status }) => status)).toEqual(["cancelled", "completed"]);
  });
});
