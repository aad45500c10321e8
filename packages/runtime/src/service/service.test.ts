/** The service behind every front end works over the ports alone. */
import { type LiveEvent, type RecordReader, SubmitSession, TroupeError } from "@troupe/core";
import { createCountingIds } from "@troupe/core/memory";
import { parsePolicy } from "@troupe/tools/internal";
import { beforeEach, expect, it } from "vitest";
import {
  createIdleDeps,
  createListedRules,
  createRows,
  definition,
  type IdleDeps,
  openRun,
  requestOf,
  root,
  session,
} from "./service.fixture.ts";
import { createService, type RunningService } from "./service.ts";

let deps: IdleDeps;
let service: RunningService;
beforeEach(async () => {
  const subagents = {
    allow: ["helper", "tester"],
    deny: ["tester"],
    execution: "parallel",
    max_concurrent: 5,
  } as const;
  deps = await createIdleDeps([
    definition({ id: "main", subagents: { ...subagents, allow: [...subagents.allow], deny: [...subagents.deny] } }),
    definition({ id: "helper" }),
    definition({ id: "tester", disabled: true }),
  ]);
  service = createService({
    deps,
    record: createRows() as unknown as RecordReader,
    rules: createListedRules(),
    policy: parsePolicy("agents: {disabled: [helper]}", "policy.yaml"),
    ids: createCountingIds(),
    workspaces: "/nonexistent",
    model: async ({ model }) => {
      throw new TroupeError("NO_PROVIDER", `no provider serves ${model}`);
    },
    resolveScenario: async (name) => `scripted/${name}`,
    status: () => ({
      version: "1",
      pid: 1,
      home: "/home",
      kind: "run",
      bus: "in-process",
      store: "memory",
      provider: "none",
      demo: false,
      startedAt: "2026-11-18T12:00:00.000Z",
    }),
  });
});

it("lists the agents and marks the disabled ones", async () => {
  const { agents } = await service.agents(null);
  expect(agents).toMatchObject([
    { id: "main", subagents: ["helper"], disabled: false },
    { id: "helper", disabled: true },
    { id: "tester", disabled: true },
  ]);
  expect(await service.status()).toMatchObject({ version: "1", agents: 3 });
});

it("takes no new session while it closes, but still takes commands about existing ones", async () => {
  await openRun(deps, requestOf());
  service.beginClosing();
  await expect(service.submit(SubmitSession.parse({ task: "late" }))).rejects.toMatchObject({ code: "CLOSING" });
  expect(await service.pause(root, "Ada")).toMatchObject({ outcome: "requested" });
});

it("names the missing setting if no model is configured", async () => {
  await expect(service.submit(SubmitSession.parse({ task: "x" }))).rejects.toMatchObject({ code: "NO_PROVIDER" });
  expect(await deps.journal.openRuns()).toEqual([]);
});

it("passes on live events to listeners and ignores invalid messages", async () => {
  const seen: LiveEvent[] = [];
  const stop = service.onLive((event) => seen.push(event));
  const event: LiveEvent = { v: 1, kind: "run.claimed", session, run: root, agent: "main" };
  const publish = (message: unknown): Promise<void> => {
    deps.bus.publish(deps.subjects.live(session, root), new TextEncoder().encode(JSON.stringify(message)));
    return deps.bus.flush();
  };
  await publish({ kind: "nonsense" });
  await publish(event);
  await expect.poll(() => seen).toEqual([event]);
  stop();
  await publish(event);
  expect(seen).toEqual([event]);
});
