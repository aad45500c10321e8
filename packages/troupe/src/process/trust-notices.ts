import type { Logger } from "@troupe/core";
import { hasIgnoredFiles, type Project, type ProjectTrust } from "@troupe/tools";

/** What a folder brings that would count if it were trusted, and why it does not. In words for a person. */
export function describeIgnoredFiles(project: Project): string {
  if (project.problem) return `${project.problem.message}; nothing of it is used: ${project.problem.fix}`;
  const paths = project.files.filter(({ used }) => used).map(({ path }) => path);
  const shown = paths.length > 3 ? `${paths.slice(0, 3).join(", ")} and ${paths.length - 3} more` : paths.join(", ");
  const changes =
    project.status === "changed" ? `, which is another since it was trusted (${describeChanges(project)})` : "";
  return `this project brings ${shown}${changes}`;
}

/** What is another than when it was accepted; the first few of it. */
export function describeChanges({ changes }: Project): string {
  const more = changes.length - 3;
  return changes.slice(0, 3).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Folders whose last word in the log is remembered. */
const foldersMax = 1_000;

/** A thousand runs that begin at once look once. What a look has found stays what was accepted, however old it is. */
const sharedMs = 200;

/** The same trust, which writes into the log what does not count: once for each folder, as it is. */
export function createLoggingTrust(trust: ProjectTrust, logger: Pick<Logger, "warn">): Pick<ProjectTrust, "inspect"> {
  const told = new Map<string, string>();
  let shared: { folder: string; at: number; project: Promise<Project> } | null = null;
  return {
    async inspect(folder) {
      const now = performance.now();
      const isKnown = shared !== null && shared.folder === folder && now - shared.at <= sharedMs;
      if (shared === null || !isKnown) shared = { folder, at: now, project: trust.inspect(folder) };
      const project = await shared.project;
      const said = `${project.hash}/${project.status}/${project.problem?.message ?? ""}`;
      if (!hasIgnoredFiles(project) || told.get(project.folder) === said) return project;
      if (told.size >= foldersMax) told.clear();
      told.set(project.folder, said);
      logger.warn(
        { folder: project.folder, standing: project.status },
        `${describeIgnoredFiles(project)}: it is not used`,
      );
      return project;
    },
  };
}
