import { homedir } from "node:os";
import { join } from "node:path";
import { type Logger, RunRequest, type TaskQueue } from "@troupe/core";
import { decode } from "@troupe/core/internal";
import { type AgentFileSource, type AgentSourceOptions, createAgentSource } from "@troupe/roles";
import type { ServedAgents } from "@troupe/runtime";
import { createProjectTrust, type ProjectTrust } from "@troupe/tools";
import { type Home, homeFiles } from "../home/home.ts";

/** Folders of the user's tools, for all workspaces. */
export function toolFolders(home: Home, env: NodeJS.ProcessEnv): string[] {
  return [join(env.HOME || homedir(), ".troupe", "tools"), join(home.path, "tools")];
}

export interface HomeAgentSourceOptions
  extends Pick<AgentSourceOptions, "remoteAgents" | "folders" | "definitions" | "teamFolders"> {
  /** A project whose agents are served for runs of every workspace. */
  project?: string | undefined;
  /** @default the decisions of the home */
  trust?: Pick<ProjectTrust, "inspect">;
}

/** The folders of the user. The last one wins. */
function userFolders(home: Home, env: NodeJS.ProcessEnv): string[] {
  return [join(env.HOME || homedir(), ".troupe"), home.path];
}

/** Folders of the user's agents, for all workspaces. The last one wins. */
export function userAgentFolders(home: Home, env: NodeJS.ProcessEnv): string[] {
  return userFolders(home, env).map((folder) => join(folder, "agents"));
}

/** Loads the agents and teams of the user and of each workspace. */
export function createHomeAgentSource(
  home: Home,
  env: NodeJS.ProcessEnv,
  { project, trust, ...rest }: HomeAgentSourceOptions = {},
): AgentFileSource {
  const decisions = trust ?? createProjectTrust({ file: homeFiles(home).trust });
  return createAgentSource({
    userFolders: userAgentFolders(home, env),
    userTeamFolders: userFolders(home, env).map((folder) => join(folder, "teams")),
    acceptedFiles: async (folder) => (await decisions.inspect(folder)).acceptedDefinitions,
    ...rest,
    ...(project === undefined ? {} : { projects: [project] }),
  });
}

/** Projects that are remembered as loaded. */
const foldersMax = 500;

/**
 * Loads the agents of a run's project before the run is offered, if its agent is unknown here. A process that has just
 * started knows no project yet, and an unfinished run of a project agent would wait forever for a host that serves it.
 */
export function createProjectAgentsQueue(queue: TaskQueue, served: ServedAgents, logger: Logger): TaskQueue {
  const seen = new Set<string>();
  const look = async (bytes: Uint8Array): Promise<void> => {
    const { path } = decode(RunRequest, bytes, "task").workspace;
    if (seen.has(path)) return;
    if (seen.size >= foldersMax) seen.clear();
    seen.add(path);
    await served.agentSource.load(path);
  };
  return {
    async offer(task) {
      if (!served.ids().includes(task.agent)) {
        await look(task.bytes).catch((err: unknown) =>
          logger.warn({ run: task.run, err }, "the agents of its project cannot be read"),
        );
      }
      return await queue.offer(task);
    },
    take: (request) => queue.take(request),
    onHint: (listener) => queue.onHint(listener),
    pollFaster: () => queue.pollFaster(),
    close: () => queue.close(),
  };
}
