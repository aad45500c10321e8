import { createMemoryTaskQueue } from "@troupe/core/memory";
import { expect, it } from "vitest";
import { rootRequest } from "./host-deps.test-helper.ts";
import { offerRun } from "./offer-run.ts";

const run = "00000000-0000-7000-8000-000000000001";
const at = { id: "w1", path: "/somewhere" };

it.each([
  ["without a locality", at, true],
  ["in the folder itself", { ...at, place: "here", mode: "shared" as const }, false],
  ["without a mode", { ...at, place: "here" }, false],
  ["in a worktree", { ...at, place: "here", mode: "worktree" as const }, false],
  ["in an isolated copy", { ...at, place: "here", mode: "isolated" as const }, true],
])("an offer reaches only the hosts of the run's files (%s)", async (_where, workspace, mayAnyHost) => {
  const queue = createMemoryTaskQueue();
  expect(await offerRun({ queue }, rootRequest({ run, workspace }))).toBe("offered");
  const elsewhere = await queue.take({ agents: "all", localities: ["there"], max: 1 });
  expect(elsewhere.length).toBe(mayAnyHost ? 1 : 0);
  const here = await queue.take({ agents: "all", localities: ["here"], max: 1 });
  expect(here.length).toBe(mayAnyHost ? 0 : 1);
  expect(await offerRun({ queue }, rootRequest({ run, workspace }))).toBe("duplicate");
});
