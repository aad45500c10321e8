import path from "node:path";
import {
  type AgentDefinition,
  type AgentRegistry,
  type Entry,
  type ErrorCode,
  type RecordReader,
  type RunRequest,
  TroupeError,
} from "@troupe/core";
import { openEntry, type RecordStatus, toRecordStatus, unknownAgent } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";

/** The sources for looking up a run. */
export interface RunSources {
  deps: Pick<HostDeps, "journal">;
  record: Pick<RecordReader, "run" | "approval">;
}

/** The state of a run, as far as commands about it need it. */
export interface RunState {
  session: string;
  run: string;
  /** Null until a host opens the run. */
  opened: (Entry & { kind: "run.opened" }) | null;
  status: RecordStatus;
  /** The run has ended. Nothing about it changes any more. */
  settled: boolean;
}

/**
 * Finds a run by its id alone. The record lists every run but is slightly behind, so the journal decides the state.
 * Fails with `UNKNOWN_RUN`.
 */
export async function findRun({ deps, record }: RunSources, run: string): Promise<RunState> {
  const row = await record.run(run);
  const session = row?.session ?? (await deps.journal.openRuns()).find((open) => open.run === run)?.session;
  if (session === undefined) throw notFound("run", run);
  const known = await readRun(deps, session, run);
  // A child that was planned but never started has no journal. Its end is in its parent's journal and in the record.
  if (known.opened || !row || row.status === "pending") return known;
  return { ...known, status: row.status, settled: row.status !== "running" };
}

/** Reads the state of a run whose session is known. */
export async function readRun(
  { journal }: Pick<HostDeps, "journal">,
  session: string,
  run: string,
): Promise<RunState & { request: RunRequest | null }> {
  const texts = await journal.readRun(session, run);
  const [first, last] = [texts[0], texts.at(-1)].map((text) => (text === undefined ? null : openEntry(text)));
  const opened = first?.kind === "run.opened" ? first : null;
  const settled = last?.kind === "run.settled";
  const status = settled ? toRecordStatus(last.response.status) : opened ? "running" : "pending";
  return { session, run, opened, request: opened?.request ?? null, status, settled };
}

/** Finds an agent by its id. An agent with a broken file fails with `INVALID_AGENT`, any other with `UNKNOWN_AGENT`. */
export function findAgent(registry: AgentRegistry, id: string): AgentDefinition {
  const agent = registry.find(id);
  if (agent) return agent;
  const known = registry.agents.map((each) => each.id);
  throw brokenAgent(registry, id) ?? unknownAgent(id, known, `no agent is called "${id}"`);
}

/** The error for an agent whose file has a mistake; null if no such file is known. */
export function brokenAgent({ problems }: Pick<AgentRegistry, "problems">, id: string): TroupeError | null {
  const broken = problems.find(
    (problem) => problem.severity === "error" && path.basename(problem.path).toLowerCase() === `${id}.md`.toLowerCase(),
  );
  if (!broken) return null;
  const line = `${broken.path}:${broken.line}`;
  return new TroupeError("INVALID_AGENT", `the agent "${id}" cannot be used: ${line}: ${broken.message}`, {
    fix: `troupe agents validate ${broken.path}`,
  });
}

const kinds = {
  session: ["UNKNOWN_SESSION", "troupe sessions ls"],
  run: ["UNKNOWN_RUN", "troupe sessions ls, then troupe sessions show SESSION"],
  approval: ["UNKNOWN_APPROVAL", "troupe approvals ls"],
  host: ["UNKNOWN_HOST", "troupe hosts ls"],
  rule: ["UNKNOWN_RULE", "troupe rules ls"],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

/** The error for an unknown id, with the command that lists the known ones. */
export function notFound(what: keyof typeof kinds, id: string): TroupeError {
  const [code, fix] = kinds[what];
  return new TroupeError(code, `there is no ${what} ${JSON.stringify(id)}`, { fix });
}
