import { stat } from "node:fs/promises";
import path from "node:path";
import { type AgentDefinition, type Ids, type RunRequest, TroupeError } from "@troupe/core";
import { hashText, protocolVersion, type SessionOrigin, type Submitted, workspaceModeOf } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { offerRun } from "../host/offer-run.ts";

/** Runs that a session may start below its root, where its caller has said nothing of it. */
export const spawnsDefault = 200;

/** What a session cannot be without. */
export type RootEssentials = Pick<RunRequest, "agent" | "task" | "layers" | "model"> & {
  workspace: string | RunRequest["workspace"];
};

/** The request of a session's first run, with nothing said beyond what it cannot be without. */
export function rootRequest(ids: Ids, { workspace, ...root }: RootEssentials, session = ids.next()): RunRequest {
  return {
    ...bare,
    ...root,
    session,
    run: ids.next(),
    workspace: typeof workspace === "string" ? workspaceAt(workspace) : workspace,
  };
}

/** The same folder has the same id, in whatever session it is used. */
function workspaceAt(folder: string): RunRequest["workspace"] {
  return { id: `w${hashText(folder).slice(0, 24)}`, path: folder };
}

/** Where a run that nobody's run asks for works: as its agent's file says, with the folder that it was given. */
export function rootWorkspace(
  folder: string,
  agent: AgentDefinition,
  { place }: { place?: string | undefined },
): RunRequest["workspace"] {
  const mode = workspaceModeOf(agent);
  if (mode === "isolated") return { ...workspaceAt(folder), mode };
  const there = { ...workspaceAt(folder), ...(place === undefined ? {} : { place }) };
  return mode === "worktree" ? { ...there, mode } : there;
}

const bare = {
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

/** Keeps a turn's request in its session's inbox, then offers its run. From the first on the turn survives a stop. */
export async function beginSession(
  { journal, queue, clock, redact }: Pick<HostDeps, "journal" | "queue" | "clock" | "redact">,
  request: RunRequest,
  { origin, demo }: { origin: SessionOrigin; demo: boolean },
): Promise<Submitted> {
  const { session, run, workspace } = request;
  if (redact && redact.text(workspace.path) !== workspace.path) throw secretFolder(redact.text(workspace.path));
  const at = clock.now();
  const kind = request.continues === null ? "session.requested" : "session.continued";
  // It is announced by its offer: nobody holds a run of it yet.
  await journal.appendInbox({ v: protocolVersion, kind, at, session, request, origin, demo });
  await offerRun({ queue }, request);
  return { session, run, workspace: request.workspace.path, demo };
}

/** Its path would be written down without the secret in it, and be that of another folder. */
function secretFolder(path: string): TroupeError {
  return new TroupeError("USAGE", `the path of the workspace has in it what is known as a secret: ${path}`, {
    fix: "work in a folder of another name, or let no secret be the name of a folder",
  });
}

/** Refuses a folder that no session can work in. */
export async function checkWorkspace(workspace: string): Promise<void> {
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
}
