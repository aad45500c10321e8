import { resolve } from "node:path";
import type { ImportCounts, ImportedFile, LocalOffice, OfficeCounts } from "@troupe/connectors";
import { exitCodes, TroupeError } from "@troupe/core";
import { deleteLocalOffice, findOwner, type Home, hasLocalOffice, homeFiles, openHomeOffice } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { connectionFailure } from "../render/connection-failure.ts";
import { type Cell, layout } from "../render/layout.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe office seed`: fills an empty office with a sample company. */
export async function seedOffice(cli: Cli, flags: { seed: number; json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const connectors = await import("@troupe/connectors");
  return await withOffice(cli, (office) => {
    const before = connectors.countRows(office);
    if (!isEmpty(before)) throw notEmpty(before);
    connectors.seedOffice(office, { seed: flags.seed });
    const counts = connectors.countRows(office);
    if (flags.json) out.line(jsonLine({ ...factsOf(cli, office), seed: flags.seed, counts }));
    else {
      out.line(`the sample company is in ${homeFiles(cli.home).office}: ${countsText(counts)}`);
      out.line(`you are ${personText(office)}, in ${office.account.timeZone}`);
      cli.terminal.err.line('try it: troupe run --team office "Schedule a meeting with the team next Tuesday 2pm"');
    }
    return 0;
  });
}

/** `troupe office import`: reads files into the office, each part alone. Returns 1 if a part had a problem. */
export async function importOffice(cli: Cli, files: readonly string[], flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const { importFiles } = await import("@troupe/connectors");
  return await withOffice(cli, async (office) => {
    const paths = [...new Set(files.map((file) => resolve(cli.cwd, file)))];
    const reports = await importFiles(office, paths);
    if (flags.json) out.line(jsonLine({ ...factsOf(cli, office), files: reports }));
    else for (const report of reports) for (const line of reportLines(report, out)) out.line(line);
    return reports.every(({ problemCount }) => problemCount === 0) ? 0 : exitCodes.INTERNAL;
  });
}

/** `troupe office status`: the folder, the account and the rows. It creates nothing. */
export async function showOffice(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const folder = homeFiles(cli.home).office;
  if (!hasLocalOffice(cli.home)) {
    if (flags.json) out.line(jsonLine({ folder, exists: false, user: null, timeZone: null, counts: null }));
    else err.line(`no office in ${folder} yet; to make one with a sample company: troupe office seed`);
    return 0;
  }
  const { countRows } = await import("@troupe/connectors");
  return await withOffice(cli, (office) => {
    const counts = countRows(office);
    if (flags.json) out.line(jsonLine({ ...factsOf(cli, office), exists: true, counts }));
    else for (const line of statusLines(cli, office, counts)) out.line(line);
    return 0;
  });
}

/** `troupe office reset`: deletes the office after a confirmation. Connected accounts stay. */
export async function resetOffice(cli: Cli, flags: { yes: boolean; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const folder = homeFiles(cli.home).office;
  if (!hasLocalOffice(cli.home)) {
    if (flags.json) out.line(jsonLine({ folder, deleted: false }));
    else err.line(`nothing to delete: no office in ${folder}`);
    return 0;
  }
  await checkUnused(cli);
  const { countRows } = await import("@troupe/connectors");
  // An office that cannot be opened can be deleted too.
  const what = await withOffice(cli, (office) => countsText(countRows(office))).catch(
    () => "a file that cannot be read",
  );
  if (!flags.yes && !(await isConfirmed(cli, what, flags))) {
    if (flags.json) out.line(jsonLine({ folder, deleted: false }));
    return exitCodes.APPROVAL_NEEDED;
  }
  await deleteLocalOffice(cli.home);
  if (flags.json) out.line(jsonLine({ folder, deleted: true }));
  else out.line(`deleted the office in ${folder}`);
  return 0;
}

async function withOffice<Result>(cli: Cli, act: (office: LocalOffice) => Result | Promise<Result>): Promise<Result> {
  const { home, env, cwd } = cli;
  const { office: settings } = await cli.composition.readConfig({ home, env, cwd, workspace: null });
  let office: LocalOffice | null = null;
  try {
    office = await openHomeOffice(home, settings).catch((thrown: unknown) => {
      throw unopened(connectionFailure(thrown));
    });
    return await act(office);
  } catch (thrown) {
    throw isFull(thrown) ? diskFull(home, thrown) : connectionFailure(thrown);
  } finally {
    office?.close();
  }
}

/** The user has to mend the folder: troupe cannot. */
function unopened(failure: unknown): unknown {
  if (!TroupeError.is(failure)) return failure;
  const fix = failure.fix === null ? {} : { fix: failure.fix };
  return new TroupeError("HOME_UNWRITABLE", failure.message, { cause: failure.cause, ...fix });
}

/** SQLite's code of a full disk. */
const fullCode = 13;

function isFull(thrown: unknown): boolean {
  return thrown instanceof Error && "errcode" in thrown && thrown.errcode === fullCode;
}

function diskFull(home: Home, cause: unknown): TroupeError {
  return new TroupeError("HOME_UNWRITABLE", `no space is left for the office in ${homeFiles(home).office}`, {
    cause,
    fix: "free space on this disk, or use another home: export TROUPE_HOME=<folder>",
  });
}

function factsOf(cli: Cli, { account: { person, timeZone } }: LocalOffice) {
  return { folder: homeFiles(cli.home).office, user: person, timeZone };
}

function isEmpty(counts: OfficeCounts): boolean {
  return Object.values(counts).every((count) => count === 0);
}

function notEmpty(counts: OfficeCounts): TroupeError {
  return new TroupeError("CONFLICT", `the office has data already: ${countsText(counts)}; nothing was changed`, {
    fix: "troupe office reset   # deletes it; then run troupe office seed again",
  });
}

/** A process with an open file would go on with a deleted one. */
async function checkUnused({ home }: Cli): Promise<void> {
  const owner = await findOwner(home, { patienceMs: 1_000 });
  if (!owner) return;
  throw new TroupeError("HOME_OWNED", `the ${owner.kind} with pid ${owner.pid} uses the office; nothing was deleted`, {
    fix: `kill -INT ${owner.pid} && troupe office reset`,
  });
}

async function isConfirmed(cli: Cli, what: string, { json }: { json: boolean }): Promise<boolean> {
  const { err } = cli.terminal;
  if (json || !cli.keyboard.isTerminal || !err.isTerminal) {
    err.line(`nothing was deleted; to delete ${what}: troupe office reset --yes`);
    return false;
  }
  err.line(`delete ${what}? [y/N]`);
  return (await cli.keyboard.readKey("yn\r\n", cli.interrupts.signal)) === "y";
}

const nouns: readonly [keyof OfficeCounts, string, string][] = [
  ["messages", "message", "messages"],
  ["events", "event", "events"],
  ["contacts", "contact", "contacts"],
  ["channels", "channel", "channels"],
  ["channelMessages", "channel message", "channel messages"],
];

/** Kinds without a row are left out. */
function countsText(counts: Partial<OfficeCounts> & ImportCounts): string {
  const texts = nouns.flatMap(([key, one, many]) => {
    const count = counts[key] ?? 0;
    return count === 0 ? [] : [`${count.toLocaleString("en")} ${count === 1 ? one : many}`];
  });
  return texts.join(", ") || "no data";
}

function personText({ account: { person } }: LocalOffice): string {
  return person.name === "" ? person.address : cleanLine(`${person.name} <${person.address}>`);
}

function statusLines(cli: Cli, office: LocalOffice, counts: OfficeCounts): string[] {
  const { colours, width } = cli.terminal.out;
  const rows: [string, string][] = [
    ["folder", homeFiles(cli.home).office],
    ["user", personText(office)],
    ["time zone", office.account.timeZone],
    ["content", countsText(counts)],
  ];
  const cells = rows.map(([name, text]): Cell[] => [{ text: name, paint: colours.dim }, { text: cleanLine(text) }]);
  return layout([{}, { flexible: true }], cells, width).map((line) => line.trimEnd());
}

/** The first line says what was read. The others name each part that was left out, or read only in part, and why. */
function reportLines(report: ImportedFile, { colours }: Output): string[] {
  const { file, kind, added, known, problems, problemCount } = report;
  const isRead = kind !== null && (problemCount === 0 || !isNothing(added) || !isNothing(known));
  const glyph = !isRead ? colours.red("✗") : problemCount > 0 ? colours.yellow("!") : colours.green("✓");
  const before = isNothing(known) ? "" : `; known already: ${countsText(known)}`;
  const read = isRead ? `new: ${isNothing(added) ? "nothing" : countsText(added)}${before}` : "not read";
  const more = problemCount - problems.length;
  return [
    `${glyph} ${cleanLine(file)}  ${read}`,
    ...problems.map(({ where, reason }) => `    ${colours.dim("problem:")} ${cleanLine(`${where}: ${reason}`)}`),
    ...(more > 0 ? [`    ${colours.dim(`and ${more} more problems`)}`] : []),
  ];
}

function isNothing(counts: ImportCounts): boolean {
  return Object.values(counts).every((count) => count === 0);
}
