import type { Mutant } from "./mutant.ts";

const tracking = "packages/tools/src/change-tracking";
const trackingTest = `${tracking}/change-tracking.test.ts`;
const heldTest = `${tracking}/held-folders.test.ts`;
const recordTest =
  "test/e2e/command-changes.test.ts > a command of an agent > that deletes and overwrites files of the user is in the record, with the old contents";
const undo = "packages/runtime/src/service/undo";
const undoTest = `${undo}/undo.test.ts`;
const restore = "packages/tools/src/restore";
const restoreTest = `${restore}/file-restorer.test.ts > a file`;
const cannotBeRestored = `${undoTest} > a file that cannot be restored`;
const interruptedTest = `${undoTest} > an undo that was interrupted after its last file > is ended by the next one, which also removes the folders that are empty now`;
const refusedWhole = "the whole undo is refused, unless it may be partial";

/** Hides changes by commands, and disables the guards of an undo. */
export const mutants: readonly Mutant[] = [
  {
    name: "a command hides a change with the old time of a file",
    rows: ["SEC.9a"],
    file: `${tracking}/stamp.ts`,
    find: "${timeText(stats.mtimeNs)} ${timeText(stats.ctimeNs)}",
    replace: "${timeText(stats.mtimeNs)} ${timeText(stats.mtimeNs)}",
    tests: [`${trackingTest} > in a shared workspace > an overwritten file is listed: its old time and size restored`],
  },
  {
    name: "a scan trusts the path of a folder that was exchanged for another",
    rows: ["SEC.9a"],
    file: `${tracking}/update-scan.ts`,
    find: "next.get(child)?.identity === identity;",
    replace: "next.has(child);",
    tests: [`${tracking}/scanner.property.test.ts > an updated scan > notices folders in exchanged folders`],
  },
  {
    name: "a command that starts beside another one trusts the events of the kernel",
    rows: ["SEC.9a"],
    file: `${tracking}/change-tracker.ts`,
    find: "isCommandRunning ? scans.next() : scans.nextIfChanged()",
    replace: "scans.nextIfChanged()",
    tests: [`${heldTest} > between two commands > a command that starts beside another one waits for a scan`],
  },
  {
    name: "a folder that was just made is not scanned again",
    rows: ["SEC.9a"],
    file: `${tracking}/scanner.ts`,
    find: "const holdsAll = isHoldable && reader.hold(scan);",
    replace: "const holdsAll = isHoldable && (reader.hold(scan), true);",
    tests: [
      `${heldTest} > between two commands > a folder that was just made is scanned again: it was not held while it was scanned`,
    ],
  },
  {
    name: "a process looks into a folder that another one was exchanged for",
    rows: ["SEC.9a"],
    file: `${tracking}/change-reader-script.ts`,
    find: '!@stats || "$stats[0]:$stats[1]" ne $folder->{identity}',
    replace: "!@stats",
    tests: [`${heldTest} > the processes that hold folders > use no folder that another one was exchanged for`],
  },
  {
    name: "a file that a person made between two commands is a change by the second",
    rows: ["SEC.9a"],
    file: `${tracking}/change-reader-script.ts`,
    find: "0x01000fce",
    replace: "0x010000ce",
    tests: [
      `${heldTest} > between two commands > an edit of a person is not reported for the next command: a removed file`,
    ],
  },
  {
    name: "a cancel hides the changes of a command",
    rows: ["SEC.9a"],
    file: "packages/runtime/src/host/effects/call-tool.ts",
    find: "signal.aborted && !outcome.inDoubt && outcome.changes.length === 0",
    replace: "signal.aborted && !outcome.inDoubt",
    tests: ["test/e2e/undo.test.ts > troupe undo > takes back the changes of a command that was cancelled"],
  },
  {
    name: "a private file is restored for everyone",
    rows: ["SEC.9c"],
    file: `${tracking}/list-changes.ts`,
    find: 'return type === "f" ? modeFields(bits) : {};',
    replace: 'return type === "f" ? modeFields(bits | 0o044) : {};',
    tests: [`${trackingTest} > in a shared workspace > a private file is listed with its old mode`],
  },
  {
    name: "a kill hides the changes of a command",
    rows: ["SEC.9a"],
    file: `${tracking}/change-tracker.ts`,
    find: "await Promise.all([starts.save(call, started.before), current.clockMoved()]);",
    replace: "await current.clockMoved();",
    tests: [`${trackingTest} > after a kill, the changes since the start of a call are found`],
  },
  {
    name: "the outcome lists only the changes of file tools",
    rows: ["SEC.9b"],
    file: "packages/runtime/src/host/effects/call-tool.ts",
    find: "changes: [...outcome.changes, ...changes.filter(({ path }) => !reported.has(path))],",
    replace: "changes: outcome.changes.concat(changes.filter(({ path }) => reported.has(path))),",
    tests: [recordTest],
  },
  {
    name: "a file that is over the list hides a loss",
    rows: ["SEC.9b"],
    file: `${tracking}/list-changes.ts`,
    find: "const rank = { deleted: 0, modified: 1, created: 2 };",
    replace: "const rank = { deleted: 2, modified: 1, created: 0 };",
    tests: [`${trackingTest} > more changes than are listed are counted by folder, and a loss is listed first`],
  },
  {
    name: "files of any size are copied",
    rows: ["SEC.9c"],
    file: `${tracking}/saved-contents.ts`,
    find: "if (size > bounds.fileBytesMax) return",
    replace: "if (size < 0) return",
    tests: [
      `${trackingTest} > contents from before a command > a file over the limit is named before the command and in its outcome`,
    ],
  },
  {
    name: "a content with a removed secret passes for the file",
    rows: ["SEC.9c"],
    file: `${tracking}/list-changes.ts`,
    find: "return ref === versionOf(content) ?",
    replace: "return ref !== versionOf({ unknown: ref }) ?",
    tests: [`${trackingTest} > contents from before a command > a file with a known secret is not kept`],
  },
  {
    name: "an index that a command has written is believed",
    rows: ["SEC.9c"],
    file: `${tracking}/keep-current.ts`,
    find: "if (seen !== null) seen = stampNow().text;",
    replace: 'if (seen === "") seen = stampNow().text;',
    tests: [
      `${trackingTest} > contents from before a command > an index that a command has forged does not decide what is kept`,
    ],
  },
  {
    name: "an undo restores a content of another version",
    rows: ["SEC.10a"],
    file: `${restore}/restore-file.ts`,
    find: "const bytes = ref === version ? await getVerified(blobs, ref) : null;",
    replace: "const bytes = await getVerified(blobs, ref);",
    tests: [`${restoreTest} > gets no content that is not its old version`],
  },
  {
    name: "an undo forgets permission bits",
    rows: ["SEC.10a"],
    file: `${undo}/plan-undo.ts`,
    find: "mode: oldest.modeBefore ?? null }",
    replace: "mode: null }",
    tests: [
      `${undoTest} > an undo > restores modified and deleted entries, with links and bits, and deletes created ones`,
    ],
  },
  {
    name: "the changes of one step are undone in the order of their ends",
    rows: ["SEC.10a"],
    file: `${undo}/undo-target.ts`,
    find: "const left = [...group];",
    replace: "const left = group.slice(group.length);",
    tests: [
      `${undoTest} > an undo > orders the changes of one step by their versions, as calls of a step end in any order`,
    ],
  },
  {
    name: "an undo overwrites a change between two changes of the run",
    rows: ["SEC.10b"],
    file: `${undo}/plan-undo.ts`,
    find: "if (between?.change) {",
    replace: "if (between?.change && gap < 0) {",
    tests: [`${cannotBeRestored} > is changed between two changes: ${refusedWhole}`],
  },
  {
    name: "an undo overwrites a newer version",
    rows: ["SEC.10b"],
    file: `${undo}/plan-undo.ts`,
    find: "if (now.version === newest) return null;",
    replace: "if (now.version === newest || newest !== null) return null;",
    tests: [`${cannotBeRestored} > is changed since: ${refusedWhole}`],
  },
  {
    name: "an undo with a conflict restores the other files",
    rows: ["SEC.10b"],
    file: `${undo}/undo.ts`,
    find: "if (hasProblem && !request.partial) return",
    replace: "if (hasProblem && plans.length === 0) return",
    tests: [`${cannotBeRestored} > is with a secret: ${refusedWhole}`],
  },
  {
    name: "a run that still works is undone",
    rows: ["SEC.10b"],
    file: `${undo}/undo-target.ts`,
    find: "for (const one of inTree) refuseActive(one);",
    replace: "for (const one of inTree.slice(1)) refuseActive(one);",
    tests: [
      `${undoTest} > a run that cannot be undone > is still working; a paused run whose calls have ended is not`,
      `${undoTest} > a run that cannot be undone > has a call that has not ended, though it is paused`,
    ],
  },
  {
    name: "a run on another disk is undone here",
    rows: ["SEC.10b"],
    file: `${undo}/undo-target.ts`,
    find: "|| place === deps.locality) return;",
    replace: '|| place !== "") return;',
    tests: [`${undoTest} > a run that cannot be undone > worked in a folder of its own, or on another disk`],
  },
  {
    name: "an undo is silent about a cancelled call",
    rows: ["SEC.10b"],
    file: `${undo}/undo-target.ts`,
    find: "[...inDoubt, ...running].map(",
    replace: "[...inDoubt, ...running.slice(9)].map(",
    tests: [
      `${undoTest} > a run that cannot be undone > has a stopped call without an outcome: a note says that its changes are not known`,
    ],
  },
  {
    name: "an undo cuts one name off from its hard link",
    rows: ["SEC.10b"],
    file: `${restore}/restore-file.ts`,
    find: "now.held.stats.nlink > 1)",
    replace: "now.held.stats.nlink > 9)",
    tests: [`${cannotBeRestored} > is hard-linked, or its kept content is gone: it is left, and the result says so`],
  },
  {
    name: "an interrupted undo is never ended",
    rows: ["SEC.10c"],
    file: `${undo}/undo.ts`,
    find: "if (open.length === 0) return;",
    replace: "if (open.length >= 0) return;",
    tests: [interruptedTest],
  },
  {
    name: "folders that an interrupted undo emptied stay",
    rows: ["SEC.10c"],
    file: `${undo}/undo.ts`,
    find: 'plans.filter(({ action, now }) => action === "none" && now.version === null);',
    replace: 'plans.filter(({ action, now }) => action === "none" && now.version === "");',
    tests: [interruptedTest],
  },
  {
    name: "an undo follows a path out of the workspace",
    rows: ["SEC.10d"],
    file: `${restore}/restore-path.ts`,
    find: 'if (names.some((name) => name === "" || name === "." || name === "..") || path.includes("\\0")) {',
    replace: 'if (names.length === 0 || path.includes("\\0")) {',
    tests: [
      `${cannotBeRestored} > is outside of the workspace: ${refusedWhole}`,
      `${cannotBeRestored} > is with an absolute path: ${refusedWhole}`,
    ],
  },
  {
    name: "an undo replaces a file that an editor has saved meanwhile",
    rows: ["SEC.10d"],
    file: `${restore}/restore-file.ts`,
    find: "if (now.version !== file.expected && !isDone) throw",
    replace: 'if (now.version !== file.expected && !isDone && name === "") throw',
    tests: [`${restoreTest} > changed between the plan and the restore stays as it is`],
  },
];
