import { realpath } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import { type ProjectFile, type ProjectFiles, readProjectFiles } from "./project-files.ts";
import { openTrustStore, type TrustRecord } from "./trust-store.ts";

/**
 * Whether the user accepted a folder's project files. `changed`: accepted in another version. `refused`: a file cannot
 * be trusted at all, and `problem` says why.
 */
export type TrustStatus = "nothing" | "trusted" | "untrusted" | "changed" | "declined" | "refused";

/** A folder's project files at one moment. Exactly these bytes are used; the files are not read again. */
export interface Project extends ProjectFiles {
  status: TrustStatus;
  /** Changes since the user accepted the files, such as `new .troupe/tools/a.mjs`. */
  changes: readonly string[];
  /** Hash by path of the agent and team files that the user accepted. None if other files changed since. */
  acceptedDefinitions: ReadonlyMap<string, string>;
  problem: TroupeError | null;
}

/** The user's decisions about project files. A file counts only if the user accepted exactly its bytes. */
export interface ProjectTrust {
  /** Reads a folder. Never throws for its contents, and never runs any of its files. */
  inspect(folder: string): Promise<Project>;
  /** Stores the user's decision about the files that were shown. */
  record(shown: ProjectFiles, decision: Pick<TrustRecord, "decision" | "at" | "by">): Promise<void>;
  /**
   * Accepts the agent and team files at a path in a folder as they are, besides those accepted before. Resolves to false, and
   * stores nothing, if other files of the folder are not trusted: one answer covers everything.
   */
  acceptDefinitions(folder: string, path: string, decision: Pick<TrustRecord, "at" | "by">): Promise<boolean>;
  list(): Promise<readonly TrustRecord[]>;
  /** Removes the decision about a folder. The folder may be given with links, and may be deleted already. */
  forget(folder: string): Promise<TrustRecord | null>;
}

/**
 * Opens the trust decisions in `trust.json`.
 *
 * @example
 * const trust = createProjectTrust({ file: "/home/me/.local/share/troupe/trust.json" });
 * const project = await trust.inspect(process.cwd());
 * if (project.status === "trusted") console.log(project.files.map(({ path }) => path));

 */
export function createProjectTrust({ file }: { file: string }): ProjectTrust {
  const store = openTrustStore(file);
  const trust: ProjectTrust = {
    async inspect(folder) {
      try {
        const found = await readProjectFiles(folder);
        const { files, definitions } = found;
        const isEmpty = files.length === 0 && definitions.length === 0;
        const record = isEmpty ? undefined : (await store.list()).find((each) => each.folder === found.folder);
        const status: Pick<Project, "status" | "changes"> =
          files.length === 0 ? { status: "nothing", changes: [] } : statusOf(found, record);
        return { ...found, ...status, acceptedDefinitions: acceptedBy(found, record), problem: null };
      } catch (error) {
        return failedProject(folder, error);
      }
    },
    record: ({ folder, hash, files, definitions }, decision) =>
      store.put({
        folder,
        hash,
        files: files.map(hashOf),
        ...(definitions.length > 0 ? { definitions: definitions.map(hashOf) } : {}),
        ...decision,
      }),
    async acceptDefinitions(folder, path, decision) {
      const project = await trust.inspect(folder);
      if (project.status !== "trusted" && project.status !== "nothing") return false;
      const own = relative(folder, resolve(folder, path)).split(sep).join("/");
      const definitions = project.definitions.filter(
        (each) => each.path === own || each.path.startsWith(`${own}/`) || isAcceptedDefinition(project, each),
      );
      await trust.record({ ...project, definitions }, { decision: "accepted", ...decision });
      return true;
    },
    list: () => store.list(),
    async forget(folder) {
      const given = resolve(folder);
      return store.remove(await realpath(given).catch(() => given));
    },
  };
  return trust;
}

function statusOf(found: ProjectFiles, record: TrustRecord | undefined): Pick<Project, "status" | "changes"> {
  if (!record) return { status: "untrusted", changes: [] };
  if (record.hash === found.hash)
    return { status: record.decision === "accepted" ? "trusted" : "declined", changes: [] };
  return record.decision === "accepted"
    ? { status: "changed", changes: changesBetween(record.files, found.files) }
    : { status: "untrusted", changes: [] };
}

function hashOf({ path, kind, hash }: ProjectFile): Pick<ProjectFile, "path" | "kind" | "hash"> {
  return { path, kind, hash };
}

/** One answer covers everything: with other files changed, no definition is accepted. */
function acceptedBy({ hash }: ProjectFiles, record: TrustRecord | undefined): ReadonlyMap<string, string> {
  const isAccepted = record?.decision === "accepted" && record.hash === hash;
  return new Map(isAccepted ? (record.definitions ?? []).map(({ path, hash: of }) => [path, of]) : []);
}

/** Whether an accepted agent or team file has these bytes. */
export function isAcceptedDefinition(
  { acceptedDefinitions }: Pick<Project, "acceptedDefinitions">,
  { path, hash }: FileHash,
): boolean {
  return acceptedDefinitions.get(path) === hash;
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

/** A missing folder has no project files. Any other error means that none of them may be used. */
function failedProject(folder: string, error: unknown): Project {
  const none = { files: [], definitions: [], changes: [], acceptedDefinitions: new Map<string, string>() };
  const nothing = { ...none, folder: resolve(folder), hash: "" };
  if (errorCodeOf(error) === "ENOENT") return { ...nothing, status: "nothing", problem: null };
  const problem = TroupeError.is(error)
    ? error
    : new TroupeError("INVALID_CONFIG", `${folder} cannot be read: ${errorCodeOf(error) ?? String(error)}`, {
        fix: "make the folder readable",
        cause: error,
      });
  return { ...nothing, status: "refused", problem };
}

/** A file of a trusted project; null if it is missing or the project is not trusted. */
export function trustedFile(project: Project, path: string): ProjectFile | null {
  if (project.status !== "trusted") return null;
  return project.files.find((file) => file.path === path) ?? null;
}

/** Whether the folder has files that troupe would use but ignores because they are not trusted. */
export function hasIgnoredFiles({ status, files }: Project): boolean {
  return status === "refused" || (status !== "trusted" && files.some(({ used }) => used));
}
