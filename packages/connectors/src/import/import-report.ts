/** Rows of one file, by domain. */
export interface ImportCounts {
  messages: number;
  events: number;
  contacts: number;
  channelMessages: number;
}

/** The import of one file. */
export interface ImportedFile {
  file: string;
  /** Null if the file was not read. */
  kind: "eml" | "mbox" | "ics" | "vcf" | "slack" | null;
  /** New rows. */
  added: ImportCounts;
  /** Rows that an earlier import had stored. Contacts and events among them were updated. */
  known: ImportCounts;
  /** The first 100 problems. A part of a file with a problem is left out, or stored as far as it can be read. */
  problems: ImportProblem[];
  problemCount: number;
}

export interface ImportProblem {
  /** The place in the file, such as `message 3`. */
  where: string;
  reason: string;
}

const problemsMax = 100;

export function openReport(file: string): ImportedFile {
  const none: ImportCounts = { messages: 0, events: 0, contacts: 0, channelMessages: 0 };
  return { file, kind: null, added: { ...none }, known: { ...none }, problems: [], problemCount: 0 };
}

/** Adds a problem of this place. */
export function addProblem(report: ImportedFile, where: string, thrown: unknown): void {
  report.problemCount += 1;
  if (report.problems.length >= problemsMax) return;
  report.problems.push({ where, reason: thrown instanceof Error ? thrown.message : String(thrown) });
}

export function countRow(report: ImportedFile, kind: keyof ImportCounts, isNew: boolean): void {
  report[isNew ? "added" : "known"][kind] += 1;
}
