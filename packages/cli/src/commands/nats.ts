import { acquireHome, type NatsFlags, offlineServerWarnings } from "troupe/internal";
import type { Cli } from "../cli.ts";
import type { PurgeFacts, RestoreFacts, StreamFacts } from "../nats/stream-maintenance.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { type Cell, layout } from "../render/layout.ts";
import type { Output } from "../terminal/terminal.ts";

export interface StreamFlags {
  json: boolean;
  nats: NatsFlags;
}

/** `troupe nats check`: reports the streams and how far each recorder is behind. Returns 1 if there is a problem. */
export async function checkStreams(cli: Cli, { json, nats }: StreamFlags): Promise<number> {
  const { out } = cli.terminal;
  const facts = await cli.composition.streams.check({ ...natsOptions(cli), nats });
  const problems = problemsOf(facts);
  if (json) out.line(jsonLine({ ok: problems.length === 0, ...facts, problems }));
  else for (const line of describe(facts, problems, out)) out.line(line);
  return problems.length === 0 ? 0 : 1;
}

/** `troupe nats purge`: deletes old sessions that every recorder has from the server. */
export async function purgeStream(
  cli: Cli,
  { json, nats, olderThanDays, dryRun }: StreamFlags & { olderThanDays: number | null; dryRun: boolean },
): Promise<number> {
  const { out, err } = cli.terminal;
  const facts = await cli.composition.streams.purge({ ...natsOptions(cli), nats, olderThanDays, dryRun });
  if (json) out.line(jsonLine(facts));
  else for (const line of purgeLines(facts)) out.line(line);
  if (!json && facts.lacked.length > 0) err.line(err.colours.yellow(whyLacked(facts)));
  return 0;
}

export interface RestoreFlags extends StreamFlags {
  withoutDamaged: boolean;
  all: boolean;
}

/** `troupe nats restore`: rebuilds a lost stream from the record. Returns 1 if a conflicting part was not restored. */
export async function restoreStream(cli: Cli, { json, nats, withoutDamaged, all }: RestoreFlags): Promise<number> {
  const { out, err } = cli.terminal;
  const home = await acquireHome(cli.home);
  try {
    const { streams } = cli.composition;
    const facts = await streams.restore({ ...natsOptions(cli), home, nats, withoutDamaged, all });
    if (json) out.line(jsonLine(facts));
    else for (const line of restoreLines(facts)) out.line(line);
    if (!json) for (const line of leftLines(facts)) err.line(err.colours.yellow(line));
    return facts.parted.length === 0 ? 0 : 1;
  } finally {
    await home.release();
  }
}

function natsOptions({ home, env, cwd }: Cli) {
  return { home, env, cwd };
}

function problemsOf({ missing, drift, copies, record, journal, namespace }: StreamFacts): string[] {
  const isNew = journal === null && record?.journal == null;
  const lost = record && !record.isSame ? [lostLine(record.journal, journal?.id ?? null)] : [];
  const cut = record && record.ahead > 0 ? [cutLine(record.ahead)] : [];
  return [
    ...lost,
    ...cut,
    ...offlineServerWarnings(copies),
    ...(isNew ? [] : missing.map((stream) => `the stream ${stream} is missing; troupe up creates it`)),
    ...drift.map(
      ({ stream, setting, found, wanted, fix }) =>
        `the stream ${stream} has ${setting} ${found}, but the configuration says ${wanted}: ${fix}`,
    ),
    ...(isNew ? [`the namespace ${namespace} has no streams yet; troupe up creates them`] : []),
  ];
}

function lostLine(recorded: string | null, found: string | null): string {
  const there = found === null ? "but the server has none" : `but the server has ${found}`;
  return `this home recorded the journal ${recorded}, ${there}. To rebuild it: troupe nats restore`;
}

function cutLine(ahead: number): string {
  return `the journal lost its newest entries: this home's record has ${ahead} more messages. To restore them: troupe nats restore`;
}

function describe(facts: StreamFacts, problems: readonly string[], { colours, width }: Output): string[] {
  const { server, version, namespace, journal, copies, followers, record, warnings } = facts;
  const recordState = record === null ? "none" : record.isSame ? "of this journal" : "of another journal";
  const rows: [string, string][] = [
    ["server", `${server}, nats-server ${version}`],
    ["namespace", namespace],
    ["journal", journal === null ? "none" : journal.id],
    ["record", recordState],
    ...copies.map(({ stream, leader, followers: others }): [string, string] => [
      "copies",
      `${stream}: ${leader} leads, ${others.map(describeCopy).join(", ")}`,
    ]),
    ...followers.map(({ follower, behind, own }): [string, string] => [
      "recorder",
      `${follower}${own ? " (this home)" : ""}: ${behind === 0 ? "up to date" : `${behind} messages behind`}`,
    ]),
  ];
  const cells = rows.map(([name, text]): Cell[] => [{ text: name, paint: colours.dim }, { text: cleanLine(text) }]);
  return [
    ...layout([{}, { flexible: true }], cells, width),
    ...problems.map((text) => `${colours.red("✗")} ${cleanLine(text)}`),
    ...warnings.map((text) => `${colours.yellow("!")} ${cleanLine(text)}`),
  ];
}

function describeCopy({ server, away, behind }: StreamFacts["copies"][number]["followers"][number]): string {
  if (away) return `${server} is offline`;
  return behind > 0 ? `${server} is ${behind} behind` : `${server} is up to date`;
}

function purgeLines({ purged, olderThanDays, dryRun, namespace }: PurgeFacts): string[] {
  const what = `${count(purged.length, "session")} of the namespace ${namespace}, settled ${olderThanDays} days ago or more`;
  return [dryRun ? `would delete ${what}` : `deleted ${what}`];
}

function whyLacked({ lacked, lackedBy }: PurgeFacts): string {
  const sessions = `${count(lacked.length, "more session")} can be deleted, but`;
  if (lackedBy.length === 0) return `${sessions} no recorder has them`;
  return `${sessions} these recorders do not have them yet: ${lackedBy.join(", ")} (troupe nats check)`;
}

function restoreLines({ created, items, sessions, open, namespace }: RestoreFacts): string[] {
  const how = created ? "restored" : "completed";
  return [
    `${how}: ${count(items, "item")} of ${count(sessions, "session")} in the namespace ${namespace}`,
    open === 0
      ? "no unfinished runs"
      : `${count(open, "unfinished run")} will continue when a daemon starts: troupe up with the same server`,
  ];
}

function leftLines({ parted, leftOut }: RestoreFacts): string[] {
  return [
    ...leftOut.map((session) => `left out, because it is damaged: session ${session}`),
    ...parted.map(({ session, run, index }) =>
      run === null
        ? `the stream differs from item ${index} of the inbox of session ${session} on; not restored`
        : `the stream differs from entry ${index} of run ${run} on; not restored`,
    ),
  ];
}

function count(many: number, what: string): string {
  return `${many.toLocaleString("en-US")} ${what}${many === 1 ? "" : "s"}`;
}
