import type { Mutant } from "./mutant.ts";

const agent = "packages/core/src/machines/agent";
const batch = `${agent}/batch.test.ts`;
const plan = `${agent}/plan-batch.test.ts`;
const scheduler = "packages/core/src/machines/batch/scheduler.test.ts";

/** Breaks the promises of S3.16: cancellation, state, partial results and folders. */
export const mutants: readonly Mutant[] = [
  {
    name: "a cancel of a run does not reach the runs below it",
    rows: ["S3.16a"],
    file: "packages/runtime/src/host/run/inbox.ts",
    find: "return item.run === run || ancestors.includes(item.run);",
    replace: "return item.run === run || ancestors.length > 1_000;",
    tests: ["packages/runtime/src/host/run/inbox.test.ts > a command"],
  },
  {
    name: "a cancel of a session reaches its root alone",
    rows: ["S3.16a"],
    file: "packages/runtime/src/host/run/inbox.ts",
    find: '    case "session.cancelled":\n      return true;',
    replace: '    case "session.cancelled":\n      return ancestors.length === 0;',
    tests: ["packages/runtime/src/host/run/inbox.test.ts > a command"],
  },
  {
    name: "no result of a read-only tool is shared",
    rows: ["S3.16b"],
    file: "packages/tools/src/cached-reads.ts",
    find: "if (cached) return { ...cached, durationMs: 0 };",
    replace: "if (cached && cache.changes < 0) return { ...cached, durationMs: 0 };",
    tests: ["packages/tools/src/cached-reads.test.ts > a read is answered from memory"],
  },
  {
    name: "a run can write to the workbench of another session",
    rows: ["S3.16b"],
    file: "packages/tools/src/memory/workbench.ts",
    find: "if (session !== context.session) {",
    replace: "if (session === undefined) {",
    tests: ["test/tools/workbench.test.ts > the workbench"],
  },
  {
    name: "the policy any waits for all tasks",
    rows: ["S3.16c"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: "      return enough(1);",
    replace: "      return enough(tasks.length);",
    tests: [`${batch} > its policy`],
  },
  {
    name: "the policy all continues after a failure",
    rows: ["S3.16c"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: "      return failed > 0\n",
    replace: "      return failed > tasks.length\n",
    tests: [`${scheduler} > the policy`],
  },
  {
    name: "an isolated child works in the folder of its parent",
    rows: ["S3.16d"],
    file: `${agent}/plan-batch.ts`,
    find: 'return workspace.mode === "isolated" ? "isolated" : mode;',
    replace: 'return workspace.mode === "isolated" ? "isolated" : mode === "isolated" ? "shared" : mode;',
    tests: [`${plan} > the workspace of a child`, "test/tools/isolated-workspaces.test.ts > an isolated child"],
  },
  {
    name: "a child below an isolated run works in the session's folder",
    rows: ["S3.16d"],
    file: `${agent}/plan-batch.ts`,
    find: 'return workspace.mode === "isolated" ? "isolated" : mode;',
    replace: "return workspace.mode === undefined ? mode : mode;",
    tests: [`${plan} > the workspace of a child`],
  },
  {
    name: "a child in a worktree works in the folder of its parent",
    rows: ["S3.16d"],
    file: `${agent}/plan-batch.ts`,
    find: 'return mode === "worktree" ? { ...onDisk, mode } : onDisk;',
    replace: "return onDisk;",
    tests: [`${plan} > the workspace of a child`],
  },
];
