import type { Mutant } from "./mutant.ts";

const imported =
  "test/files/export-import.test.ts > an exported session > is imported into another home once, is listed there, and replays the same";
const rebuilt = "test/files/backup.test.ts > troupe record > rebuild makes a lost record again";

const lost =
  "test/files/record-faults.test.ts > a lost journal > cut to nothing is refused by a start, and its record is never replaced by less";
const wiped =
  "test/files/record-faults.test.ts > a record > with a wiped page of rows is refused with its next step, the journal stays as it is, and makes it again";

/** Breaks the promise of S5.11c: a session is reconstructed from its journal, also in another home. */
export const mutants: readonly Mutant[] = [
  {
    name: "an export loses the last entry",
    rows: ["S5.11c"],
    file: "packages/recorder/src/archive/export-lines.ts",
    find: "  for (const item of feed) {",
    replace: "  for (const item of feed.slice(0, -1)) {",
    tests: [imported],
  },
  {
    name: "an import stores a session twice",
    rows: ["S5.11c"],
    file: "packages/recorder/src/journal/session-writer.ts",
    find: 'if (isKnown) return isSame(write) ? { kind: "known" } : { kind: "conflict", lastIndex: -1 };',
    replace: 'if (isKnown && !isSame(write)) return { kind: "conflict", lastIndex: -1 };',
    tests: [imported],
  },
  {
    name: "a rebuilt record is thrown away",
    rows: ["S5.11c"],
    file: "packages/troupe/src/backup/check-record.ts",
    find: "    await rename(fresh, record);\n",
    replace: "    await rename(fresh, `${record}.other`);\n",
    tests: [rebuilt],
  },
  {
    name: "a rebuilt record replaces one that has more",
    rows: ["S5.11c"],
    file: "packages/troupe/src/backup/check-record.ts",
    find: "      await refuseLoss(journal, record);\n",
    replace: "",
    tests: [lost],
  },
  {
    name: "a damaged page of the record is an unexpected error",
    rows: ["S5.11c"],
    file: "packages/recorder/src/record/record-store.ts",
    find: "withFileErrors(createReader(database, withFileErrors(asked.queries, spec)), spec)",
    replace: "createReader(database, asked.queries)",
    tests: [wiped],
  },
];
