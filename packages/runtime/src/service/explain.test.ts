/** Which layer took a tool or agent away. The explanation never contradicts the pinned grant. */
import { type GrantLayer, GrantLayer as LayerSchema } from "@troupe/core";
import { createCountingIds } from "@troupe/core/memory";
import { parsePolicy } from "@troupe/tools/internal";
import { beforeEach, describe, expect, it } from "vitest";
import { createControl } from "./control.ts";
import {
  child,
  createIdleDeps,
  createRows,
  definition,
  type IdleDeps,
  openRun,
  requestOf,
  requestSession,
  root,
  session,
  settled,
} from "./service.fixture.ts";

const main = definition({
  id: "main",
  disallowedTools: ["write"],
  subagents: { allow: ["helper", "tester"], deny: [], execution: "parallel", max_concurrent: 5 },
});
const others = ["helper", "tester", "critic"].map((id) => definition({ id }));
const layers: GrantLayer[] = [
  LayerSchema.parse({ from: "policy", kind: "policy" }),
  LayerSchema.parse({ from: "session", kind: "session", denyTools: ["shell"], denyAgents: ["tester"] }),
];
const granted = { tools: ["read"], agents: ["helper"], writes: [] };

let deps: IdleDeps;
beforeEach(async () => {
  deps = await createIdleDeps([main, ...others]);
});

async function explain(grant = granted, policy = "") {
  await openRun(deps, requestOf({ layers }), [], { definition: main, grant });
  const parsed = parsePolicy(policy, "policy.yaml");
  return await createControl({ deps, record: createRows(), ids: createCountingIds(), policy: parsed }).explain(root);
}

async function decisionOf(name: string, grant = granted, policy = "") {
  return (await explain(grant, policy)).verdicts.find((decision) => decision.name === name);
}

it("names the layers in order and has a decision for every tool and agent", async () => {
  const { verdicts, context: _, ...rest } = await explain();
  expect(rest).toEqual({ run: root, session, agent: "main", layers: ["policy", "session", "main"] });
  const line = ({ name, granted: has, removedBy }: (typeof verdicts)[number]) => [name, has, removedBy];
  expect(verdicts.map(line)).toEqual([
    ["read", true, null],
    ["write", false, "main"],
    ["shell", false, "session"],
    ["main", false, "main"],
    ["helper", true, null],
    ["tester", false, "session"],
    ["critic", false, "main"],
  ]);
});

it("of a settled run shows the grant that it had", async () => {
  await openRun(deps, requestOf({ run: child, layers }), [settled(child)], { definition: main, grant: granted });
  const record = createRows();
  record.runs.set(child, { session, status: "completed" });
  const control = createControl({ deps, record, ids: createCountingIds() });
  expect((await control.explain(child)).verdicts[0]).toMatchObject({ name: "read", granted: true });
});

describe("the context of the run", () => {
  it("is that of its newest entry while it works", async () => {
    expect((await explain()).context).toEqual({
      request: "do it",
      tools: ["read"],
      params: {},
      status: "executing",
      result: null,
      notes: [],
      summary: null,
      risk: "low",
      expectedFormat: "an answer for the user",
      successCriteria: "the task is done as it was asked",
    });
  });

  it.each([
    ["completed", "complete"],
    ["cancelled", "failed"],
  ] as const)("of a run that is %s is %s", async (ended, status) => {
    await openRun(deps, requestOf(), [settled(root, ended)], { definition: main, grant: granted });
    const record = createRows();
    record.runs.set(root, { session, status: ended });
    const { context } = await createControl({ deps, record, ids: createCountingIds() }).explain(root);
    expect(context).toMatchObject({ status, summary: "" });
  });
});

describe("the grant of the opening wins over", () => {
  it("a later denial", async () => {
    expect(await decisionOf("shell", { tools: ["read", "shell"], agents: [], writes: [] })).toEqual({
      kind: "tool",
      name: "shell",
      granted: true,
      removedBy: null,
      reason: "granted when the run opened; now denied by the session's grant",
    });
  });

  it("a later permission", async () => {
    expect(await decisionOf("helper", { tools: [], agents: [], writes: [] })).toEqual({
      kind: "agent",
      name: "helper",
      granted: false,
      removedBy: "run",
      reason: "was missing, or not granted, when the run opened",
    });
  });

  it("a tool that no longer exists", async () => {
    expect(await decisionOf("fax", { tools: ["fax"], agents: [], writes: [] })).toMatchObject({
      kind: "tool",
      granted: true,
      reason: "granted when the run opened; this process no longer has such a tool",
    });
    deps = await createIdleDeps([main]);
    expect(await decisionOf("helper")).toMatchObject({ kind: "agent", granted: true });
  });
});

it("this machine's policy has the last word, because it is checked at every call", async () => {
  expect(await decisionOf("read", granted, "tools: {deny: [filesystem]}")).toEqual({
    kind: "tool",
    name: "read",
    granted: false,
    removedBy: "policy",
    reason: "granted when the run opened, but now denied by this machine's policy",
  });
});

it("of a run on another machine names that machine's policy and not this one's", async () => {
  const machine = LayerSchema.parse({ from: "worker-1", kind: "policy", denyTools: ["write"] });
  await openRun(deps, requestOf({ layers }), [], {
    definition: { ...main, disallowedTools: [] },
    grant: granted,
    machine,
  });
  const policy = parsePolicy("tools: {deny: [filesystem]}", "policy.yaml");
  const { layers: names, verdicts } = await createControl({
    ...{ deps, record: createRows(), ids: createCountingIds(), policy },
  }).explain(root);
  expect(names).toEqual(["policy", "session", "worker-1", "main"]);
  expect(verdicts.slice(0, 2)).toEqual([
    expect.objectContaining({ name: "read", granted: true }),
    {
      kind: "tool",
      name: "write",
      granted: false,
      removedBy: "worker-1",
      reason: "denied by the policy of worker-1",
    },
  ]);
});

it("of a run that has not started is a CONFLICT", async () => {
  await requestSession(deps);
  const control = createControl({ deps, record: createRows(), ids: createCountingIds() });
  await expect(control.explain(root)).rejects.toMatchObject({ code: "CONFLICT", fix: "ask again when it runs" });
  await expect(control.explain(child)).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
});
