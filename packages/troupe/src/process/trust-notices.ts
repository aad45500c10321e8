import type { Logger } from "@troupe/core";
import { hasIgnoredFiles, type Project, type ProjectTrust } from "@troupe/tools";

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

/** Runs that start within this time share one inspection. An accepted content stays accepted, so its age does not matter. */
const sharedMs = 200;

export type ProcessTrust = Pick<ProjectTrust, "inspect" | "acceptDefinitions">;

/** Logs the ignored files of a project, once for each state of the project. */
export function createLoggingTrust(trust: ProjectTrust, logger: Pick<Logger, "warn">): ProcessTrust {
  const logged = new Map<string, string>();
  let shared: { folder: string; at: number; project: Promise<Project> } | null = null;
  return {
    async inspect(folder) {
      const now = performance.now();
      const isKnown = shared !== null && shared.folder === folder && now - shared.at <= sharedMs;
      if (shared === null || !isKnown) shared = { folder, at: now, project: trust.inspect(folder) };
      const project = await shared.project;
      const state = `${project.hash}/${project.status}/${project.problem?.message ?? ""}`;
      if (!hasIgnoredFiles(project) || logged.get(project.folder) === state) return project;
      if (logged.size >= foldersMax) logged.clear();
      logged.set(project.folder, state);
      logger.warn({ folder: project.folder, standing: project.status }, `${describeIgnoredFiles(project)}: ignored`);
      return project;
    },
    async acceptDefinitions(folder, path, decision) {
      const isAccepted = await trust.acceptDefinitions(folder, path, decision);
      // The next inspection must see the decision.
      shared = null;
      return isAccepted;
    },
  };
}
