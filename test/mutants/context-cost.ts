import type { Mutant } from "./mutant.ts";

const list = "packages/core/src/delegation/agent-list.ts";
const listTest = "packages/core/src/delegation/agent-list.test.ts > the list of agents";
const spec = "packages/runtime/src/host/claim/run-spec.ts";
const specTest = "packages/runtime/src/host/claim/run-spec.test.ts > the list of agents";
const callTool = "packages/runtime/src/host/effects/call-tool.ts";
const searchTest = "packages/runtime/src/host/effects/call-tool.test.ts > a search for agents";

/** Breaks the laws that keep a first request small: one list of agents within a budget, a search, and no text twice. */
export const mutants: readonly Mutant[] = [
  {
    name: "the list of agents has no budget",
    rows: ["S5.7d"],
    file: list,
    find: "if (text.length + enumCharacters <= charactersMax) return",
    replace: "if (text.length + enumCharacters <= charactersMax * 1_000) return",
    tests: [`${listTest} > with 403 agents`],
  },
  {
    name: "the ids stay in the schemas, whatever they cost",
    rows: ["S5.7d"],
    file: list,
    find: "return { text: namesOf(ids, charactersMax), ids: null, isShortened: true };",
    replace: "return { text: namesOf(ids, charactersMax), ids, isShortened: true };",
    tests: [`${listTest} > with 403 agents`],
  },
  {
    name: "the tool repeats the list of the prompt",
    rows: ["S5.7d"],
    file: spec,
    find: 'return prompt.includes(text) ? "ids" : "list";',
    replace: 'return prompt.includes(text) ? "list" : "list";',
    tests: [`${specTest} > is read once: in the prompt, or in the tool if the prompt does not have it`],
  },
  {
    name: "a program's prompt leaves the model without the list",
    rows: ["S5.7d"],
    file: spec,
    find: 'return prompt.includes(text) ? "ids" : "list";',
    replace: 'return prompt.includes(text) ? "ids" : "ids";',
    tests: [`${specTest} > is read once: in the prompt, or in the tool if the prompt does not have it`],
  },
  {
    name: "a shortened list comes without a search",
    rows: ["S5.4a"],
    file: "packages/core/src/delegation/spec.ts",
    find: "...(isShortened ? [findAgentSpec] : []),",
    replace: "...(isShortened ? [] : []),",
    tests: [
      "packages/core/src/delegation/spec.test.ts > a list that leaves something out > comes with a search, and without ids in the schemas",
    ],
  },
  {
    name: "a replay searches the agents anew",
    rows: ["S5.4a"],
    file: callTool,
    find: "isOffered && !pin.grant.tools.includes(name) && !deps.replay",
    replace: "isOffered && !pin.grant.tools.includes(name)",
    tests: [`${searchTest} > in a replay has the recorded result`],
  },
  {
    name: "a search is answered although it was not offered",
    rows: ["S5.4a"],
    file: callTool,
    find: "return name === findAgentToolName && isOffered &&",
    replace: "return name === findAgentToolName && (isOffered || true) &&",
    tests: [`${searchTest} > that was not offered is refused by the tool host`],
  },
  {
    name: "the model reads a summary twice",
    rows: ["S5.5"],
    file: "packages/core/src/machines/agent/result-details.ts",
    find: 'if (details.trim() === summary.trim()) return "";',
    replace: 'if (details === "") return "";',
    tests: [
      "packages/core/src/machines/agent/result-details.test.ts > details > that equal the summary are empty, and no field is missing",
    ],
  },
  {
    name: "results of recorded runs change",
    rows: ["S5.5"],
    file: "packages/core/src/machines/agent/result-details.ts",
    find: "readsTextOnce = false }",
    replace: "readsTextOnce = true }",
    tests: [
      "packages/core/src/machines/agent/result-details.test.ts > details > are complete for a run of an earlier version",
    ],
  },
];
