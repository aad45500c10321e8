import { dirname } from "node:path";
import { type ApprovalRow, type ErrorCode, type SessionRow, TroupeError } from "@troupe/core";
import { type ApprovalRule, Id, type WebhookRow } from "@troupe/core/internal";
import { homeFiles } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine } from "../render/clean.ts";
import { truncate } from "../render/layout.ts";
import { type Archive, withArchive } from "./archive.ts";
import { isSettled } from "./client.ts";

// Ids are long, so every command accepts a unique beginning of an id.

/** A kind of id, with the words and the fix for its errors. */
interface IdKind {
  words: string;
  plural: string;
  code: ErrorCode;
  fix: string;
}

const sessions: IdKind = {
  words: "session",
  plural: "sessions",
  code: "UNKNOWN_SESSION",
  fix: "troupe sessions ls",
};
const sessionsAndRuns: IdKind = { ...sessions, words: "session or run", plural: "sessions or runs" };
const runs: IdKind = {
  words: "run",
  plural: "runs",
  code: "UNKNOWN_RUN",
  fix: "troupe sessions show SESSION --tree",
};
const approvals: IdKind = {
  words: "request for approval",
  plural: "requests for approval",
  code: "UNKNOWN_APPROVAL",
  fix: "troupe approvals ls --all",
};
const rules: IdKind = { words: "rule", plural: "rules", code: "UNKNOWN_RULE", fix: "troupe rules ls" };
const webhooks: IdKind = {
  words: "webhook",
  plural: "webhooks",
  code: "UNKNOWN_WEBHOOK",
  fix: "troupe webhooks ls",
};

/** Stands for the newest session. No id can begin with it. */
const newest = "last";

/** Enough to see that a prefix is not unique. */
const matchesMax = 6;

/** Newest sessions that are searched for a prefix. */
const searchedMax = 500;

/** Newest settled sessions whose runs are searched. */
const settledSearchedMax = 20;

/** Finds a session by its id or a unique beginning of it. */
export async function resolveSession(archive: Archive, given: string): Promise<SessionRow> {
  const found = await findSession(archive, given.toLowerCase(), sessions);
  if (found) return found;
  throw await unknownWithHint(archive, sessions, given);
}

/** Like `resolveSession`, but accepts any full id: the journal can have a session that the record does not have yet. */
export async function resolveSessionId(archive: Archive, given: string): Promise<string> {
  const whole = Id.safeParse(given.toLowerCase());
  return whole.success ? whole.data : (await resolveSession(archive, given)).session;
}

/** A session, or one run of it. */
export type CancelTarget = { session: string; run: null } | { run: string };

/** Finds a session or a run. If both match a prefix, the session wins. */
export async function resolveTarget(archive: Archive, given: string): Promise<CancelTarget> {
  const session = await findSession(archive, given.toLowerCase(), sessionsAndRuns);
  if (session) return { session: session.session, run: null };
  return { run: await resolveRunAlone(archive, given, sessionsAndRuns) };
}

/** Finds a run. A session id means its root run. */
export async function resolveRun(archive: Archive, given: string): Promise<string> {
  const session = await findSession(archive, given.toLowerCase(), runs);
  return session?.rootRun ?? (await resolveRunAlone(archive, given, runs));
}

/** Like `resolveRun`. With a session, only its runs are searched. */
export async function resolveRunOf(archive: Archive, given: string, session: string | null): Promise<string> {
  if (session === null) return await resolveRun(archive, given);
  const { session: id, rootRun } = await resolveSession(archive, session);
  const wanted = given.toLowerCase();
  if (wanted === newest || (wanted !== "" && id.startsWith(wanted))) return rootRun;
  const rows = (await archive.session(id))?.runs ?? [];
  const found = findUnique(rows, (row) => row.run, wanted, runs);
  if (found) return found.run;
  throw await unknownWithHint(archive, runs, given);
}

export async function resolveApproval(archive: Archive, given: string): Promise<string> {
  const wanted = given.toLowerCase();
  const found = await findApproval(archive, wanted);
  if (found) return found.id;
  if (Id.safeParse(wanted).success && archive.connection) return wanted;
  throw unknownId(approvals, given);
}

/** A request by its id, or by the beginning of one. Throws `UNKNOWN_APPROVAL` if no request has it. */
export async function readApproval(archive: Archive, given: string): Promise<ApprovalRow> {
  const found = await findApproval(archive, given.toLowerCase());
  if (found) return found;
  throw unknownId(approvals, given);
}

/** A waiting request wins over an answered one. */
async function findApproval(archive: Archive, wanted: string): Promise<ApprovalRow | null> {
  for (const waiting of [true, false]) {
    const rows = await archive.approvals({ waiting, limit: searchedMax });
    const found = findUnique(rows, (row: ApprovalRow) => row.id, wanted, approvals);
    if (found) return found;
  }
  return null;
}

export function resolveRule(stored: readonly ApprovalRule[], given: string): string {
  const found = findUnique(stored, (rule) => rule.id, given.toLowerCase(), rules);
  if (found) return found.id;
  throw unknownId(rules, given);
}

export function resolveWebhook(stored: readonly WebhookRow[], given: string): string {
  const found = findUnique(stored, ({ id }) => id, given.toLowerCase(), webhooks);
  if (found) return found.id;
  throw unknownId(webhooks, given);
}

async function findSession(archive: Archive, wanted: string, kind: IdKind): Promise<SessionRow | null> {
  if (wanted.length === 36) return (await archive.session(wanted))?.session ?? null;
  if (wanted === "") return null;
  if (wanted === newest) return await newestSession(archive);
  const found = findUnique(await archive.sessions(searchedMax), (row) => row.session, wanted, kind);
  return found ?? (await findOlderSession(archive, wanted, kind));
}

/** Older sessions than the searched ones: the record finds a prefix among all ids. */
async function findOlderSession(archive: Archive, wanted: string, kind: IdKind): Promise<SessionRow | null> {
  const matches = await archive.queries.idsWith(wanted, { limit: matchesMax });
  const ofSessions = matches.filter((match) => match.kind === "session");
  const match = findUnique(ofSessions, ({ id }) => id, wanted, kind);
  return match ? ((await archive.session(match.id))?.session ?? null) : null;
}

async function newestSession(archive: Archive): Promise<SessionRow> {
  const [row] = await archive.sessions(1);
  if (row) return row;
  throw new TroupeError("UNKNOWN_SESSION", "no session has started yet", { fix: 'troupe run "what to do"' });
}

async function resolveRunAlone(archive: Archive, given: string, kind: IdKind): Promise<string> {
  const wanted = given.toLowerCase();
  if (wanted.length === 36) {
    if (Id.safeParse(wanted).success && (await archive.mayHaveRun(wanted))) return wanted;
    throw unknownId(kind, given);
  }
  const matches = await archive.queries.idsWith(wanted, { limit: matchesMax });
  const indexed = findUnique(
    matches.filter((match) => match.kind === "run"),
    ({ id }) => id,
    wanted,
    kind,
  );
  if (indexed) return indexed.id;
  const rows = await archive.sessions(searchedMax);
  const searched = rows.filter((row, i) => i < settledSearchedMax || !isSettled(row.status));
  const details = await Promise.all(searched.map((row) => archive.session(row.session)));
  const found = findUnique(
    details.flatMap((detail) => detail?.runs ?? []),
    (row) => row.run,
    wanted,
    kind,
  );
  if (found) return found.run;
  throw await unknownWithHint(archive, kind, given);
}

/** Null if no id starts with the prefix. Several matches are an error, because a guess could stop the wrong run. */
function findUnique<T>(rows: readonly T[], idOf: (row: T) => string, wanted: string, kind: IdKind): T | null {
  const [match, ...others] = wanted === "" ? [] : rows.filter((row) => idOf(row).startsWith(wanted));
  if (!match) return null;
  if (others.length === 0) return match;
  const ids = [match, ...others].slice(0, 5).map(idOf);
  const more = others.length >= ids.length ? "…" : "";
  const count = `${others.length + 1} ${kind.plural}`;
  throw new TroupeError("USAGE", `"${cleanLine(wanted)}" matches ${count}: ${ids.join(", ")}${more}`, {
    fix: `type more of the id: ${idOf(match)}`,
  });
}

/** The shortest beginning of an id that is worth a suggestion. */
const hintCharactersMin = 4;

/** The error for an unknown id, with ids that begin in the same way. */
async function unknownWithHint(archive: Archive, kind: IdKind, given: string): Promise<TroupeError> {
  const wanted = given.toLowerCase();
  if (!/^[0-9a-f-]{4,36}$/.test(wanted)) return unknownId(kind, given);
  for (let length = wanted.length - 1; length >= hintCharactersMin; length -= 1) {
    const near = await archive.queries.idsWith(wanted.slice(0, length), { limit: 3 });
    const ids = near.filter((match) => kind !== sessions || match.kind === "session").map(({ id }) => id);
    if (ids.length === 0) continue;
    const fix = `did you mean ${ids.join(" or ")}? For a list: ${kind.fix}`;
    return unknownId({ ...kind, fix }, given);
  }
  return unknownId(kind, given);
}

function unknownId({ code, words, fix }: IdKind, given: string): TroupeError {
  return new TroupeError(code, `there is no ${words} ${JSON.stringify(cleanLine(given))}`, { fix });
}

/** The session to continue: by its id or the beginning of it, or the newest. */
export type ResumeTarget = "newest" | { session: string };

/**
 * Finds the session to continue and prints it. `newest` searches the sessions of the named folder, or those of the current
 * folder and those with a folder in the home, such as demos.
 */
export async function findResumeTarget(
  cli: Cli,
  wanted: ResumeTarget,
  { workspace, notice }: { workspace: string | null; notice: (text: string) => void },
): Promise<string> {
  return await withArchive(cli, async (archive) => {
    const row =
      wanted === "newest" ? await findNewest(cli, archive, workspace) : await findNamed(archive, wanted.session);
    if (typeof row === "string") return row;
    notice(`continuing session ${row.session}: ${truncate(cleanLine(row.task), 80)}`);
    return row.session;
  });
}

/** Accepts any full id: the journal can have a session that the record does not have yet. */
async function findNamed(archive: Archive, given: string): Promise<SessionRow | string> {
  const id = Id.safeParse(given.toLowerCase());
  if (!id.success) return await resolveSession(archive, given);
  return (await archive.session(id.data))?.session ?? id.data;
}

async function findNewest(cli: Cli, archive: Archive, workspace: string | null): Promise<SessionRow> {
  const own = homeFiles(cli.home).workspaces;
  const isHere = (row: SessionRow): boolean =>
    row.workspace === (workspace ?? cli.cwd) || (workspace === null && dirname(row.workspace) === own);
  const found = (await archive.sessions(searchedMax)).find(isHere);
  if (found) return found;
  throw new TroupeError("UNKNOWN_SESSION", `there is no session of ${workspace ?? cli.cwd} to continue`, {
    fix: 'troupe run "what to do", or name one: troupe run --resume SESSION "…"; troupe sessions ls',
  });
}
