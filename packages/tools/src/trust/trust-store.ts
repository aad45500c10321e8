import { readFile } from "node:fs/promises";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import { z } from "zod";
import { writeFileAtomic } from "../disk/atomic-write.ts";
import { withLock } from "../disk/with-lock.ts";
import { projectKinds } from "./project-files.ts";

/** Limit of stored decisions. */
const foldersMax = 1_000;

const FileRecord = z.strictObject({ path: z.string(), kind: z.enum(projectKinds), hash: z.string() });

/** A user's decision about the project files of a folder, in exactly that version. */
export const TrustRecord = z.strictObject({
  folder: z.string(),
  hash: z.string(),
  decision: z.enum(["accepted", "declined"]),
  files: z.array(FileRecord),
  /** Agent and team files that were shown as well. Absent: none. */
  definitions: z.array(FileRecord).exactOptional(),
  at: z.iso.datetime(),
  by: z.string(),
});
export type TrustRecord = z.infer<typeof TrustRecord>;

const TrustFile = z.strictObject({ version: z.literal(1), folders: z.array(TrustRecord) });

/** The decisions in `trust.json`. Every call reads the file, because other processes write it too. */
export interface TrustStore {
  list(): Promise<readonly TrustRecord[]>;
  /** Replaces an earlier decision about the folder. */
  put(record: TrustRecord): Promise<void>;
  /** Resolves to the removed decision; null if there was none. */
  remove(folder: string): Promise<TrustRecord | null>;
}

/** Throws `INVALID_POLICY` for a damaged file and does not change it: a damaged file never counts as consent. */
export function openTrustStore(file: string): TrustStore {
  const change = (apply: (known: readonly TrustRecord[]) => readonly TrustRecord[]): Promise<void> =>
    writing(file, () =>
      withLock(`${file}.lock`, async () => {
        const known = await readTrust(file);
        const next = apply(known);
        if (next.length > foldersMax) throw tooMany(file);
        const content: z.input<typeof TrustFile> = { version: 1, folders: [...next] };
        await writeFileAtomic(file, Buffer.from(`${JSON.stringify(content, null, 2)}\n`), { mode: 0o600 });
      }),
    );

  return {
    list: () => readTrust(file),
    put: (record) => change((known) => [...known.filter(({ folder }) => folder !== record.folder), record]),
    async remove(folder) {
      let removed: TrustRecord | null = null;
      const isThere = (await readTrust(file)).some((each) => each.folder === folder);
      if (!isThere) return null;
      await change((known) => {
        removed = known.find((each) => each.folder === folder) ?? null;
        return known.filter((each) => each !== removed);
      });
      return removed;
    },
  };
}

async function readTrust(file: string): Promise<readonly TrustRecord[]> {
  try {
    return TrustFile.parse(JSON.parse(await readFile(file, "utf8"))).folders;
  } catch (cause) {
    if (errorCodeOf(cause) === "ENOENT") return [];
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
    throw new TroupeError("INVALID_POLICY", `the trust decisions in ${file} cannot be read: ${why}`, {
      fix: `correct it, or start without decisions: mv ${file} ${file}.damaged`,
      cause,
    });
  }
}

async function writing(file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (TroupeError.is(cause)) throw cause;
    throw new TroupeError(
      "HOME_UNWRITABLE",
      `the trust decision could not be written to ${file}: ${messageOf(cause)}`,
      {
        fix: "free disk space or make the folder writable, then try again",
        cause,
      },
    );
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function tooMany(file: string): TroupeError {
  return new TroupeError("LIMIT_REACHED", `${file} already holds the maximum of ${foldersMax} folders`, {
    fix: "troupe trust ls, then troupe trust rm DIR for folders that you no longer need",
  });
}
