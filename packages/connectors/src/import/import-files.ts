import { stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import type { LocalAccount } from "../local/local-account.ts";
import type { LocalOffice } from "../local/open-local-office.ts";
import { addProblem, type ImportedFile, openReport } from "./import-report.ts";

/** Imports one file. Problems of parts go to the report; a thrown error is a problem of the whole file. */
type Importer = (path: string, account: LocalAccount, report: ImportedFile) => Promise<void>;

interface FileKind {
  kind: NonNullable<ImportedFile["kind"]>;
  bytesMax: number;
  load: () => Promise<Importer>;
}

const megabyte = 1_000_000;
/** The parsers load with the first file of their kind. */
const kinds: Readonly<Record<string, FileKind>> = {
  ".eml": { kind: "eml", bytesMax: 50 * megabyte, load: async () => (await import("./mail-files.ts")).importEml },
  ".mbox": {
    kind: "mbox",
    bytesMax: 20_000 * megabyte,
    load: async () => (await import("./mail-files.ts")).importMbox,
  },
  ".ics": { kind: "ics", bytesMax: 50 * megabyte, load: async () => (await import("./calendar-files.ts")).importIcs },
  ".vcf": { kind: "vcf", bytesMax: 50 * megabyte, load: async () => (await import("./contact-files.ts")).importVcf },
  ".zip": {
    kind: "slack",
    bytesMax: 20_000 * megabyte,
    load: async () => (await import("./slack-export.ts")).importSlack,
  },
};

/**
 * Imports files into a local office: `.eml` and `.mbox` (mail), `.ics` (events), `.vcf` (contacts) and `.zip` (an export of
 * Slack). The same file again adds nothing. Content is never executed, and nothing is written outside the office's folder.
 * A file that cannot be read is a problem in its report, and does not stop the others.
 *
 * @example
 * const [report] = await importFiles(office, ["/home/me/archive.mbox"]);
 * console.log(`${report?.added.messages} new messages, ${report?.problemCount} problems`);
 */
export async function importFiles(office: LocalOffice, files: readonly string[]): Promise<ImportedFile[]> {
  const reports: ImportedFile[] = [];
  for (const file of files) {
    const report = openReport(file);
    reports.push(report);
    try {
      const { kind, load } = await examineFile(file);
      report.kind = kind;
      const importer = await load();
      await importer(file, office.account, report);
    } catch (thrown) {
      addProblem(report, basename(file), thrown);
    }
  }
  return reports;
}

async function examineFile(file: string): Promise<FileKind> {
  const found = await stat(file).catch(() => null);
  if (!found) throw new Error("the file does not exist");
  if (found.isDirectory()) throw new Error(`is a folder: name its files, such as ${join(basename(file), "*.eml")}`);
  if (!found.isFile()) throw new Error("is not a file");
  const kind = kinds[extname(file).toLowerCase()];
  if (!kind)
    throw new Error(
      `files with the ending ${JSON.stringify(extname(file))} cannot be imported: use ${Object.keys(kinds).join(", ")}`,
    );
  if (found.size > kind.bytesMax) {
    throw new Error(`has ${Math.ceil(found.size / megabyte)} MB, and at most ${kind.bytesMax / megabyte} MB are read`);
  }
  return kind;
}
