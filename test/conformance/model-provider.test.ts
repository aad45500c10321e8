import { type ModelRequest, TroupeError } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createModelRouter, createScriptedProvider, parseScenario } from "@troupe/models";
import { describe } from "vitest";
import { modelProviderConformance } from "./model-provider.ts";

const price = { inputPerMillion: 2, outputPerMillion: 10 };
const scenario = parseScenario(
  `
name: conformance
description: One agent for each way in which a call can go.
price: { inputPerMillion: 2, outputPerMillion: 10 }
agents:
  text: [{ steps: [{ latencyMs: 20, text: one two three four, deltas: 4 }] }]
  calls: [{ steps: [{ text: both, calls: [{ tool: read, args: { path: a } }, { tool: read, args: { path: b } }] }] }]
  failing: [{ steps: [{ error: { type: network, message: gone, recoverable: true } }] }]
  slow: [{ steps: [{ latencyMs: 3600000, text: at last it is done, deltas: 4 }] }]
`,
  "conformance.yaml",
);

function createScripted() {
  const load = async (name: string) => {
    if (name === "conformance") return scenario;
    throw new TroupeError("UNKNOWN_SCENARIO", `there is no scenario ${name}`);
  };
  return createScriptedProvider({ load, clock: systemClock() });
}

function requestTo(agent: string): ModelRequest {
  return {
    model: "scripted/conformance",
    system: "You are a test.",
    messages: [{ role: "user", text: "go" }],
    tools: [],
    maxOutputTokens: 1_000,
    temperature: null,
    origin: { session: "s", run: "r", agent, task: "go", attempt: 1, step: 1 },
  };
}

const requests = {
  text: requestTo("text"),
  calls: requestTo("calls"),
  failing: requestTo("failing"),
  slow: requestTo("slow"),
};

describe("the scripted provider", () => {
  modelProviderConformance(() => ({ provider: createScripted(), price, requests }));
});

describe("a provider behind the router", () => {
  modelProviderConformance(() => ({
    provider: { ...createModelRouter([createScripted()]), id: "scripted" },
    price,
    requests,
  }));
});
