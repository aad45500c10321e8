import { stat } from "node:fs/promises";
import path from "node:path";
import { type AgentDefinition, type Ids, type RunRequest, TroupeError } from "@troupe/core";
import { hashText, protocolVersion, type SessionOrigin, type Submitted, workspaceModeOf } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { offerRun } from "../host/offer-run.ts";
import { refuseHome } from "./home-workspace.ts";

/** The number of runs that a session can start below its root, unless its budget says otherwise. */
export const spawnsDefault = 200;

/** The fields of a root request that have no default. */
export type RootEssentials = Pick<RunRequest, "agent" | "task" | "layers" | "model"> & {
  workspace: string | RunRequest["workspace"];
};

/** Builds the request of a session's first run, with defaults for all other fields. */
export function rootRequest(ids: Ids, { workspace, ...root }: RootEssentials, session = ids.next()): RunRequest {
  return {
    ...requestDefaults,
    ...root,
    session,
    run: ids.next(),
    workspace: typeof workspace === "string" ? workspaceAt(workspace) : workspace,
  };
}

/** The workspace of a folder. The same folder has the same id in every session. */
function workspaceAt(folder: string): RunRequest["workspace"] {
  return { id: `w${hashText(folder).slice(0, 24)}`, path: folder };
}

/** The workspace of a root run: the given folder, in the mode of the agent's definition. */
export function rootWorkspace(
  folder: string,
  agent: AgentDefinition,
  { locality }: { locality?: string | undefined },
): RunRequest["workspace"] {
  const mode = workspaceModeOf(agent);
  if (mode === "isolated") return { ...workspaceAt(folder), mode };
  const onDisk = { ...workspaceAt(folder), ...(locality === undefined ? {} : { place: locality }) };
  return mode === "worktree" ? { ...onDisk, mode } : onDisk;
}

const requestDefaults = {
  v: protocolVersion,
  parent: null,
  depth: 0,
  attempt: 1,
  context: null,
  contextMode: "task_only",
  contextFiles: [],
  successCriteria: null,
  userId: null,
  outputSchema: null,
  chain: [],
  continues: null,
  ancestors: [],
  budget: { tokens: null, costUsd: null, toolCalls: null, spawns: spawnsDefault },
  limits: {},
  temperature: null,
  parentPrompt: null,
  remainingMs: null,
} satisfies Partial<RunRequest>;

/** Stores a turn's request in the session's inbox, then offers its run. Once stored, the turn survives a crash. */
export async function beginSession(
  { journal, queue, clock, redact }: Pick<HostDeps, "journal" | "queue" | "clock" | "redact">,
  request: RunRequest,
  { origin, demo, team }: { origin: SessionOrigin; demo: boolean; team?: string | undefined },
): Promise<Submitted> {
  const { session, run, workspace } = request;
  if (redact && redact.text(workspace.path) !== workspace.path) throw secretPath(redact.text(workspace.path));
  const at = clock.now();
  const kind = request.continues === null ? "session.requested" : "session.continued";
  // The offer announces the session: no host has a run of it yet.
  const ofTeam = team === undefined ? {} : { team };
  await journal.appendInbox({ v: protocolVersion, kind, at, session, request, origin, demo, ...ofTeam });
  await offerRun({ queue }, request);
  return { session, run, workspace: request.workspace.path, demo };
}

/** The journal would store the path without the secret, which is the path of another folder. */
function secretPath(redactedPath: string): TroupeError {
  return new TroupeError("USAGE", `the path of the workspace contains a secret: ${redactedPath}`, {
    fix: "use a folder with another path, or change the secret that is also a folder name",
  });
}

/** Throws `USAGE` unless the workspace is the absolute path of a folder, and no home unless homes are allowed. */
export async function checkWorkspace(workspace: string, { allowHome = false } = {}): Promise<void> {
  const fix = "name a folder that exists: --workspace DIR";
  if (!path.isAbsolute(workspace)) {
    throw new TroupeError("USAGE", `the workspace "${workspace}" is not an absolute path`, { fix });
  }
  const found = await stat(workspace).catch(() => null);
  if (!found?.isDirectory()) {
    throw new TroupeError("USAGE", `the workspace "${workspace}" ${found ? "is not a folder" : "does not exist"}`, {
      fix,
    });
  }
  if (!allowHome) await refuseHome(workspace);
}
