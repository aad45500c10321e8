import type { Mutant } from "./mutant.ts";

const patterns = "test/troupe/delegation-patterns.test.ts";
const patternsGuide = "docs/guides/delegation-patterns.md";
const reachable = "test/packaging/reachable.test.ts";

/** Breaks the promises of the documents: their reach, and the examples of the patterns of delegation. */
export const mutants: readonly Mutant[] = [
  {
    name: "a pattern does not say its cost",
    rows: ["S2.17h"],
    file: patternsGuide,
    find: "- **Cost:** nothing by itself.",
    replace: "- Nothing by itself.",
    tests: [`${patterns} > each pattern says when to use it, how it fails and its cost, and is in the first table`],
  },
  {
    name: "a pattern is not in the first table",
    rows: ["S2.17h"],
    file: patternsGuide,
    find: "| order | Sequential chain, Research then implement, Test first |",
    replace: "| order | Sequential chain, Research then implement |",
    tests: [`${patterns} > each pattern says when to use it, how it fails and its cost, and is in the first table`],
  },
  {
    name: "the last link of the chain waits for nothing",
    rows: ["S2.17i"],
    file: patternsGuide,
    find: ', "after": ["mend"] }',
    replace: " }",
    tests: [`${patterns} > the calls of the guide`],
  },
  {
    name: "the gate of the guide has no review",
    rows: ["S2.17i"],
    file: patternsGuide,
    find: "    review: true\n",
    replace: "    review: false\n",
    tests: [`${patterns} > the plans of the guide`],
  },
  {
    name: "the trigger of the guide has another word",
    rows: ["S2.17i"],
    file: patternsGuide,
    find: "- words: [invoice,",
    replace: "- words: [receipt,",
    tests: [`${patterns} > the team and the command of the guide`],
  },
  {
    name: "a guide is linked from nowhere",
    rows: ["S5.11d"],
    file: "README.md",
    find: "[patterns of delegation](docs/guides/delegation-patterns.md), ",
    replace: "",
    tests: [`${reachable} > README.md itself links to each guide`],
  },
  {
    name: "a command is missing in the reference",
    rows: ["S5.11d"],
    file: "packages/cli/README.md",
    find: "| `teams validate [PATH…] [--json]`",
    replace: "| `teams [PATH…] [--json]`",
    tests: [`${reachable} > the reference of the command line has each command and each flag of run`],
  },
  {
    name: "a delegating model reads no earlier runs",
    rows: ["S5.11e"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "return hint === undefined ? target : { ...target, hint };",
    replace: "return hint === undefined ? target : { ...target };",
    tests: ["test/e2e/agent-stats.test.ts > earlier runs"],
  },
  {
    name: "the figures of the record are of no run",
    rows: ["S5.11e"],
    file: "packages/recorder/src/record/agent-stats.ts",
    find: "row.isRecent === 0 || ",
    replace: "row.isRecent !== 0 || ",
    tests: ["test/e2e/agent-stats.test.ts > earlier runs"],
  },
];
