/** The one message that starts a run. Fields are only added, with defaults, so that older messages stay valid. */
import { describe, expect, test } from "vitest";
import { aRequest, run, session } from "../machines/fixtures.test-helper.ts";
import { decode, encode } from "./codec.ts";
import { GrantLayer, RunRequest } from "./request.ts";

/** A request with its required fields alone. */
const least = {
  v: 1,
  session,
  run,
  parent: null,
  agent: "main",
  depth: 0,
  attempt: 1,
  task: "count the files",
  chain: [],
  layers: [],
  model: "scripted/any",
  workspace: { id: "w1", path: "/w" },
};

test("missing fields have defaults, and none of them extends a run's permissions", () => {
  expect(RunRequest.parse(least)).toEqual(aRequest());
});

test("a single child is the first of its batch", () => {
  const parent = { run: session, agent: "main", step: 1, call: 0 };
  expect(RunRequest.parse({ ...least, parent }).parent).toEqual({ ...parent, item: 0 });
});

test("a request with every field is decoded unchanged", () => {
  const request = aRequest({
    parent: { run: session, agent: "main", step: 2, call: 1, item: 3 },
    depth: 1,
    attempt: 2,
    context: "so far",
    contextMode: "selective",
    contextFiles: ["notes.md"],
    successCriteria: "it is short",
    userId: "ada",
    outputSchema: { type: "object" },
    chain: ["main"],
    ancestors: [session],
    layers: [
      {
        from: "policy",
        kind: "policy",
        tools: null,
        denyTools: ["shell"],
        agents: ["*"],
        denyAgents: ["critic"],
        writes: null,
      },
      { from: "session", kind: "session", tools: [], denyTools: [], agents: [], denyAgents: [], writes: null },
    ],
    budget: { tokens: 1_000, costUsd: 0.5, toolCalls: 0, spawns: null },
    limits: { maxIterations: 3, maxTokens: null },
    temperature: 0.2,
    parentPrompt: "You do everything.",
    remainingMs: 60_000,
  });
  expect(decode(RunRequest, encode(request), "request")).toEqual(request);
});

describe("the layers of a grant", () => {
  // `layers` replaced `grant`. A default would remove every restriction from an older message.
  const { layers: _none, ...withoutLayers } = least;
  test.each([
    ["are required", withoutLayers],
    ["do not mix with the fields that they replaced", { ...withoutLayers, grant: { tools: ["read"] } }],
    ["are not null", { ...least, layers: null }],
    [
      "are not the fields that they replaced",
      { ...least, layers: null, grant: { tools: ["read"], agents: [], writes: [] } },
    ],
  ])("%s", (_, request) => {
    expect(RunRequest.safeParse(request).error?.issues.map(({ path }) => path)).toEqual([["layers"]]);
  });

  test("of a request from before layers are its grant, and no more", () => {
    const read = RunRequest.parse({ ...withoutLayers, grant: { tools: ["read"], agents: [], writes: [] } });
    expect(read.layers).toEqual([
      { from: "session", kind: "session", tools: ["read"], denyTools: [], agents: [], denyAgents: [], writes: null },
    ]);
  });

  test("do not restrict unnamed tools", () => {
    expect(GrantLayer.parse({ from: "session", kind: "session" })).toEqual({
      from: "session",
      kind: "session",
      tools: null,
      denyTools: [],
      agents: null,
      denyAgents: [],
      writes: null,
    });
  });

  test("keep an empty list, which grants nothing, apart from a missing list, which is not a restriction", () => {
    const layer = GrantLayer.parse({ from: "session", kind: "session", tools: [], agents: [] });
    expect([layer.tools, layer.agents]).toEqual([[], []]);
  });

  test.each([
    ["a layer without a source", { kind: "session" }],
    ["a layer of an unknown kind", { from: "x", kind: "host" }],
    ["one name in place of a list", { from: "x", kind: "agent", tools: "read" }],
    ["a denial that is not a list", { from: "x", kind: "agent", denyTools: null }],
  ])("%s is refused", (_, layer) => {
    expect(GrantLayer.safeParse(layer).success).toBe(false);
  });
});

test.each([
  ["no task", { task: "" }],
  ["a negative depth", { depth: -1 }],
  ["an attempt before the first", { attempt: 0 }],
  ["zero time", { remainingMs: 0 }],
  ["an agent that is not a subject token", { agent: "a.b" }],
  ["an ancestor that is not a run", { ancestors: ["main"] }],
  ["an invalid cap", { limits: { maxDepth: -1 } }],
  ["a negative budget", { budget: { tokens: -1 } }],
  ["a temperature out of range", { temperature: 3 }],
  ["an unknown mode of context", { contextMode: "half" }],
])("%s is refused", (_, changes) => {
  expect(RunRequest.safeParse({ ...least, ...changes }).success).toBe(false);
});
