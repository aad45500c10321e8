import type { Mutant } from "./mutant.ts";

const stats = "packages/recorder/src/record/agent-stats.ts";
const statsTest = "packages/recorder/src/record/agent-stats.test.ts > the statistics of agents";
const hint = "packages/core/src/delegation/agent-hint.ts";
const hintTest = "packages/core/src/delegation/agent-hint.test.ts > a hint";
const recordHints = "packages/troupe/src/process/record-hints.ts";
const recordHintsTest = "packages/troupe/src/process/record-hints.test.ts > hints";

/** Breaks the promises of S5.12: statistics of earlier runs, and the hint that a delegating model reads. */
export const mutants: readonly Mutant[] = [
  {
    name: "a cancelled run is a failure",
    rows: ["S5.12e"],
    file: stats,
    find: 'cancelled: "stopped",',
    replace: 'cancelled: "failure",',
    tests: [`${statsTest} > a cancelled or rejected run is neither success nor failure`],
  },
  {
    name: "a run that timed out is a success",
    rows: ["S5.12e"],
    file: stats,
    find: 'timeout: "failure",',
    replace: 'timeout: "success",',
    tests: [`${statsTest} > count success, and every way to fail`],
  },
  {
    name: "old runs count",
    rows: ["S5.12e"],
    file: stats,
    find: "row.isRecent === 0 || ",
    replace: "",
    tests: [`${statsTest} > leave out runs that have not settled or ended before the time`],
  },
  {
    name: "an unknown cost is nothing",
    rows: ["S5.12f"],
    file: stats,
    find: "usd === null || costUsd === null ? null : usd + costUsd",
    replace: "(usd ?? 0) + (costUsd ?? 0)",
    tests: [`${statsTest} > a cost contains the runs below, and is unknown or an estimate if one of theirs is`],
  },
  {
    name: "the runs below cost nothing",
    rows: ["S5.12f"],
    file: stats,
    find: "at = parents.get(at) ?? null)",
    replace: "at = null)",
    tests: [`${statsTest} > a cost contains the runs below, and is unknown or an estimate if one of theirs is`],
  },
  {
    name: "nine runs are enough for a hint",
    rows: ["S5.12g"],
    file: hint,
    find: "hintRunsMin = 10",
    replace: "hintRunsMin = 9",
    tests: [`${hintTest} > with 9 runs`],
  },
  {
    name: "the pair does not count",
    rows: ["S5.12g"],
    file: hint,
    find: "const rows = [pair, agents",
    replace: "const rows = [pair && undefined, agents",
    tests: [`${hintTest} > with 10 runs of the pair`],
  },
  {
    name: "the start of a run reads the record",
    rows: ["S5.12g"],
    file: recordHints,
    find: "cancelRead = clock.after(0, () => void read());",
    replace: "void read();",
    tests: [`${recordHintsTest} > that are old are given once more, and read again behind the start of the run`],
  },
  {
    name: "a hint is not pinned",
    rows: ["S5.12g"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "return hint === undefined ? target : { ...target, hint };",
    replace: "return hint === undefined ? target : { ...target };",
    tests: [
      "packages/runtime/src/host/claim/run-spec.test.ts > a hint about earlier runs > is pinned in the spec, and read in the prompt",
    ],
  },
];
