/** A request for an agent without a host gets the reason and the fix. */
import type { HostView } from "@troupe/core/internal";
import { expect, test } from "vitest";
import { missingHost } from "./missing-host.ts";

const lab = { host: "lab1", place: "lab", alive: true, draining: false, agents: [{ definition: { id: "expert" } }] };
const hosts = {
  list: () => [lab as unknown as HostView],
  serving: async (_: string, place: string) => (place === "any" || place === "lab" ? [lab as unknown as HostView] : []),
  served: () => new Map(),
  onChange: () => () => {},
};
const at = (workspace: object) => ({
  agent: "expert",
  workspace: { id: "w1", path: "/project", place: "desk", ...workspace },
});

test.each(["shared", "worktree"] as const)("a %s run can only go to the host of its files", async (mode) => {
  expect(await missingHost({ hosts }, at({ mode }))).toEqual({
    message:
      "no living host serves the agent expert at the place desk, where its files are; it is served by lab1 at lab, where " +
      "it could work in a folder of its own: workspace: isolated, in its file",
    fix: "troupe worker --agents expert --place desk",
  });
});

test("an isolated run goes to any host that serves it, and a shared run to the host of its folder", async () => {
  expect(await missingHost({ hosts }, at({ mode: "isolated" }))).toBeNull();
  expect(await missingHost({ hosts }, at({ place: "lab" }))).toBeNull();
});
