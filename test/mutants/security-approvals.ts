import type { Mutant } from "./mutant.ts";

const losses = "packages/tools/src/file-losses";
const lossTest = `${losses}/command-losses.test.ts`;
const unclear = `${lossTest} > a command whose files cannot be told asks if the workspace has anything that git lacks`;
const quiet = `${lossTest} > a command does not ask if it loses nothing`;
const lineEffects = "packages/tools/src/commands/file-effects/line-effects.ts";
const toolHost = "packages/tools/src/tool-host.ts";
const callTool = "packages/runtime/src/host/effects/call-tool.ts";
const callTest = "packages/runtime/src/host/effects/call-tool.test.ts > a call that needs an approval";
const bound = "packages/tools/src/approved-content/bound-content.ts";
const boundTest = "packages/tools/src/approved-content/bound-content.test.ts";
const changedTest = `${boundTest} > an approved call does not run if its files have changed`;

/** Lets commands lose files without a question, and lets approvals cover other content. */
export const mutants: readonly Mutant[] = [
  {
    name: "a flag of the index hides a changed file",
    rows: ["SEC.11a"],
    file: `${losses}/git-states.ts`,
    find: "return /[a-zS]/.test(tag)",
    replace: "return /[0-9]/.test(tag)",
    tests: [`${lossTest} > the index cannot hide a change`],
  },
  {
    name: "ignored files count as kept by git",
    rows: ["SEC.11a"],
    file: `${losses}/git-states.ts`,
    find: "--ignored=matching",
    replace: "--ignored=no",
    tests: [`${lossTest} > a command asks before it loses > rm .env`],
  },
  {
    name: "the tool host starts a command that loses files without an approval",
    rows: ["SEC.11a"],
    file: toolHost,
    find: 'if (verdict.decision !== "allow") throw forbidden(call.name, verdict);',
    replace: 'if (verdict.decision === "deny") throw forbidden(call.name, verdict);',
    tests: [`${lossTest} > the policy > is checked again where the command runs`],
  },
  {
    name: "a command whose files cannot be told loses nothing",
    rows: ["SEC.11b"],
    file: lineEffects,
    find: "this.#found.targets.push(everything);",
    replace: "this.#found.targets.push(...[everything].slice(1));",
    tests: [unclear],
  },
  {
    name: "a shell that reads its commands from a pipe loses nothing",
    rows: ["SEC.11b"],
    file: lineEffects,
    find: "if (input === null) return this.everything();",
    replace: "if (input === null) return;",
    tests: [`${unclear} > echo 'rm -rf src' | sh`],
  },
  {
    name: "a file of an agent stays the agent's after a person has changed it",
    rows: ["SEC.11c"],
    file: `${losses}/created-files.ts`,
    find: "stamps.get(path) !== stampOf(stats));",
    replace: 'stamps.get(path) === undefined || stampOf(stats) === "");',
    tests: [`${quiet} > a file that the run has made itself, by a tool or by a command`],
  },
  {
    name: "folders that a program makes again count as lost",
    rows: ["SEC.11c"],
    file: `${losses}/lost-files.ts`,
    find: 'state === "ignored" && isRegenerable(path);',
    replace: 'state === "ignored" && path === "" && isRegenerable(path);',
    tests: [`${quiet} > rm -rf node_modules`],
  },
  {
    name: "an approved call runs another script",
    rows: ["SEC.12a"],
    file: callTool,
    find: "const changed = approved && approval ? staleApproval(approval, state) : null;",
    replace: "const changed = approved && approval ? staleApproval(approval, {}) : null;",
    tests: [`${callTest} > is bound to the files that it runs: it is asked about again if they have changed`],
  },
  {
    name: "an approval for some lost files covers others",
    rows: ["SEC.12a"],
    file: "packages/core/src/protocol/approval.ts",
    find: "if (now.losses === undefined || now.losses.digest === losses?.digest) return null;",
    replace: "if (now.losses === undefined || losses !== undefined) return null;",
    tests: [`${callTest} > is asked about again if it would lose other files`],
  },
  {
    name: "an answer fits a question about another content",
    rows: ["SEC.12a"],
    file: "packages/runtime/src/host/effects/ask-approval.ts",
    find: "canonicalJson([losses?.digest ?? null, bound])",
    replace: "canonicalJson([losses?.digest ?? null, bound.length])",
    tests: [`${callTest} > has another id for each content, and each time that it is asked again`],
  },
  {
    name: "a script may change between the answer and the start",
    rows: ["SEC.12b"],
    file: toolHost,
    find: "const changed = context.approval ? staleApproval(context.approval, state) : null;",
    replace: "const changed = context.approval ? staleApproval(context.approval, {}) : null;",
    tests: [changedTest],
  },
  {
    name: "scripts of package.json are bound without the files that they start",
    rows: ["SEC.12b"],
    file: bound,
    find: "for (const line of scriptsOf(file, names.slice(0, 3).map(String))) {",
    replace: "for (const line of scriptsOf(file, names.slice(0, 3).map(String)).slice(9)) {",
    tests: [`${changedTest} > a script that a script of the package starts`],
  },
  {
    name: "a build is bound to no file of the workspace",
    rows: ["SEC.12b"],
    file: bound,
    find: "return isOpen ? [...contents, wholeWorkspace(real)] : contents;",
    replace: "return isOpen && files.length > 99 ? [...contents, wholeWorkspace(real)] : contents;",
    tests: [`${changedTest} > an included file`],
  },
  {
    name: "an approval of the tests is for any content",
    rows: ["SEC.12b"],
    file: "packages/tools/src/commands/project-tests/create-test-tool.ts",
    find: "...commandFiles(sandbox, () => ({ runsAnyFile: true })),",
    replace: "...commandFiles(sandbox, () => ({ words: [] })),",
    tests: [
      "packages/tools/src/commands/project-tests/create-test-tool.test.ts > an approval is for the files as they were",
    ],
  },
  {
    name: "an approval for the rest of a run covers a changed script",
    rows: ["SEC.12c"],
    file: toolHost,
    find: "[...covers, ...contentParts(state)]",
    replace: "[...covers, ...contentParts({})]",
    tests: [
      `${boundTest} > an approval for the rest of the run > does not cover a script with another content`,
      `${boundTest} > an approval for the rest of the run > does not cover other lost files`,
    ],
  },
  {
    name: "a stored rule covers a changed script",
    rows: ["SEC.12c"],
    file: "packages/tools/src/policy/file-decision.ts",
    find: "staleApproval({ bound: ruleBound }, { bound });",
    replace: "staleApproval({ bound: ruleBound }, { bound: [] });",
    tests: [`${boundTest} > a stored rule for a command is for its script as it was`],
  },
];
