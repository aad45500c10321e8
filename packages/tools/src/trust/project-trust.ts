import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import { type ProjectFile, type ProjectFiles, readProjectFiles } from "./project-files.ts";
import { openTrustStore, type TrustRecord } from "./trust-store.ts";

/**
 * How far what a folder brings is accepted. `changed`: it was, in another form. `refused`: it holds something that cannot
 * be trusted at all, and `problem` says what.
 */
export type TrustStatus = "nothing" | "trusted" | "untrusted" | "changed" | "declined" | "refused";

/** What a folder brings, at one look: what is used of it are these bytes, and nothing that is read again. */
export interface Project extends ProjectFiles {
  status: TrustStatus;
  /** What is another since it was accepted: `new .troupe/tools/a.mjs`. */
  changes: readonly string[];
  problem: TroupeError | null;
}

/** Who is taken at whose word: what projects bring counts once their owner has accepted it, to the byte. */
export interface ProjectTrust {
  /** Never throws for what is in the folder, and never runs anything of it. */
  inspect(folder: string): Promise<Project>;
  /** Keeps what somebody said to what they were shown. */
  record(shown: ProjectFiles, decision: Pick<TrustRecord, "decision" | "at" | "by">): Promise<void>;
  list(): Promise<readonly TrustRecord[]>;
  /** By the folder's name, links resolved or not; one that has gone can be forgotten too. */
  forget(folder: string): Promise<TrustRecord | null>;
}

/**
 * What `trust.json` says about folders.
 *
 * @example
 * const trust = createProjectTrust({ file: "/home/me/.local/share/troupe/trust.json" });
 * const project = await trust.inspect(process.cwd());
 * if (project.status === "trusted") console.log(project.files.map(({ path }) => path));
 */
export function createProjectTrust({ file }: { file: string }): ProjectTrust {
  const store = openTrustStore(file);
  return {
    async inspect(folder) {
      try {
        const found = await readProjectFiles(folder);
        if (found.files.length === 0) return { ...found, status: "nothing", changes: [], problem: null };
        const record = (await store.list()).find((each) => each.folder === found.folder);
        return { ...found, ...statusOf(found, record), problem: null };
      } catch (error) {
        return failedProject(folder, error);
      }
    },
    record: ({ folder, hash, files }, decision) =>
      store.put({
        folder,
        hash,
        files: files.map(({ path, kind, hash: of }) => ({ path, kind, hash: of })),
        ...decision,
      }),
    list: () => store.list(),
    async forget(folder) {
      const given = resolve(folder);
      return store.remove(await realpath(given).catch(() => given));
    },
  };
}

function statusOf(found: ProjectFiles, record: TrustRecord | undefined): Pick<Project, "status" | "changes"> {
  if (!record) return { status: "untrusted", changes: [] };
  if (record.hash === found.hash)
    return { status: record.decision === "accepted" ? "trusted" : "declined", changes: [] };
  return record.decision === "accepted"
    ? { status: "changed", changes: changesBetween(record.files, found.files) }
    : { status: "untrusted", changes: [] };
}

type FileHash = Pick<ProjectFile, "path" | "hash">;

function changesBetween(before: readonly FileHash[], after: readonly FileHash[]): string[] {
  const hashes = new Map(before.map(({ path, hash }) => [path, hash]));
  const there = new Set(after.map(({ path }) => path));
  return [
    ...after.flatMap(({ path, hash }) => {
      if (!hashes.has(path)) return [`new ${path}`];
      return hashes.get(path) === hash ? [] : [`changed ${path}`];
    }),
    ...before.flatMap(({ path }) => (there.has(path) ? [] : [`gone ${path}`])),
  ];
}

/** A folder that is not there brings nothing; whatever else goes wrong is a reason to use nothing of it. */
function failedProject(folder: string, error: unknown): Project {
  const nothing = { folder: resolve(folder), files: [], hash: "", changes: [] };
  if (errorCodeOf(error) === "ENOENT") return { ...nothing, status: "nothing", problem: null };
  const problem = TroupeError.is(error)
    ? error
    : new TroupeError("INVALID_CONFIG", `${folder} cannot be looked into: ${errorCodeOf(error) ?? String(error)}`, {
        fix: "make the folder readable",
        cause: error,
      });
  return { ...nothing, status: "refused", problem };
}

/** A file of what is trusted, null where there is none or it is not. */
export function trustedFile(project: Project, path: string): ProjectFile | null {
  if (project.status !== "trusted") return null;
  return project.files.find((file) => file.path === path) ?? null;
}

/** Whether something that would count lies there unused, which is worth a word. */
export function hasIgnoredFiles({ status, files }: Project): boolean {
  return status === "refused" || (status !== "trusted" && files.some(({ used }) => used));
}
