import { statSync } from "node:fs";
import type { Logger } from "@troupe/core";
import { createProjectTrust, hasIgnoredFiles, type Project, type ProjectTrust } from "@troupe/tools";

/** Names the project files that are ignored because the project is not trusted. */
export function describeIgnoredFiles(project: Project): string {
  if (project.problem) return `${project.problem.message}; its files are ignored: ${project.problem.fix}`;
  const paths = project.files.filter(({ used }) => used).map(({ path }) => path);
  const shown = paths.length > 3 ? `${paths.slice(0, 3).join(", ")} and ${paths.length - 3} more` : paths.join(", ");
  const changes =
    project.status === "changed" ? `, which changed since you trusted it (${describeChanges(project)})` : "";
  return `this project has ${shown}${changes}`;
}

/** The first three changes since the project was trusted. */
export function describeChanges({ changes }: Project): string {
  const more = changes.length - 3;
  return changes.slice(0, 3).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Projects whose last log line is remembered. */
const foldersMax = 1_000;

/** Runs that start within this time share one inspection, as long as the user decides nothing. */
const sharedMs = 200;

export type ProcessTrust = Pick<ProjectTrust, "inspect" | "acceptDefinitions">;

/** An inspection that several runs share. */
interface SharedInspection {
  folder: string;
  startedAtMs: number;
  /** The version of the file with the user's decisions at its start. */
  decisions: string;
  project: Promise<Project>;
}

/**
 * Inspects the projects of this process. Logs the ignored files of a project, once for each state of the project.
 *
 * @param options.file the file with the user's decisions. Other processes write it too
 */
export function createLoggingTrust({ file, logger }: { file: string; logger: Pick<Logger, "warn"> }): ProcessTrust {
  const trust = createProjectTrust({ file });
  const logged = new Map<string, string>();
  let shared: SharedInspection | null = null;
  const inspectShared = (folder: string): Promise<Project> => {
    const startedAtMs = performance.now();
    const decisions = versionOf(file);
    if (
      shared === null ||
      shared.folder !== folder ||
      shared.decisions !== decisions ||
      startedAtMs - shared.startedAtMs > sharedMs
    ) {
      shared = { folder, startedAtMs, decisions, project: trust.inspect(folder) };
    }
    return shared.project;
  };
  return {
    async inspect(folder) {
      const project = await inspectShared(folder);
      const state = `${project.hash}/${project.status}/${project.problem?.message ?? ""}`;
      if (!hasIgnoredFiles(project) || logged.get(project.folder) === state) return project;
      if (logged.size >= foldersMax) logged.clear();
      logged.set(project.folder, state);
      logger.warn({ folder: project.folder, standing: project.status }, `${describeIgnoredFiles(project)}: ignored`);
      return project;
    },
    acceptDefinitions: trust.acceptDefinitions,
  };
}

/** Changes with each write of the file, which replaces it. */
function versionOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}/${stat.mtimeNs}/${stat.size}` : "";
}
