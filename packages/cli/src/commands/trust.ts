import { statSync } from "node:fs";
import { resolve } from "node:path";
import { exitCodes, TroupeError } from "@troupe/core";
import {
  createProjectTrust,
  isAcceptedDefinition,
  type Project,
  type ProjectFile,
  type ProjectKind,
  type ProjectTrust,
  type TrustRecord,
  type TrustStatus,
} from "@troupe/tools";
import { homeFiles } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { formatDuration } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { saveDecision } from "../session/trust-prompt.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe trust [DIR]`: shows the project files that need trust, and trusts them as shown. */
export async function trust(cli: Cli, given: string, flags: { yes: boolean; json: boolean }): Promise<number> {
  const store = trustOf(cli);
  // Rejects if `trust.json` is damaged, before any question.
  await store.list();
  const project = await store.inspect(folderOf(cli, given));
  if (project.problem) throw project.problem;
  const { out, err } = cli.terminal;
  if (!flags.json) for (const line of render(project, out)) out.line(line);
  const status = await decide(cli, store, project, flags);
  if (flags.json) out.line(jsonLine(trustJson(project, status)));
  else if (status === "trusted" && project.status !== "trusted") err.line(`trusted: ${project.folder}`);
  return status === "trusted" || status === "nothing" || status === "declined" ? 0 : exitCodes.APPROVAL_NEEDED;
}

async function decide(
  cli: Cli,
  store: ProjectTrust,
  project: Project,
  flags: { yes: boolean; json: boolean },
): Promise<TrustStatus> {
  const { status } = project;
  const isNew = project.definitions.some((file) => !isAcceptedDefinition(project, file));
  if ((status === "nothing" || status === "trusted") && !isNew) return status;
  if (flags.yes) {
    await saveDecision(cli, store, project, "accepted");
    return "trusted";
  }
  const { err } = cli.terminal;
  if (flags.json || !cli.keyboard.isTerminal || !err.isTerminal) {
    const what = status === "nothing" || status === "trusted" ? "not replacing others" : "ignored";
    if (!flags.json) err.line(`${what}; to trust it as it is now: troupe trust ${project.folder} --yes`);
    return status === "declined" ? "untrusted" : status;
  }
  err.line("trust all of it as it is now? [y/N]");
  const key = await cli.keyboard.readKey("yn\r\n", cli.interrupts.signal);
  if (key === null) return status;
  const decision = key === "y" ? "accepted" : "declined";
  await saveDecision(cli, store, project, decision);
  return decision === "accepted" ? "trusted" : "declined";
}

/** `troupe trust ls`: lists the trust decisions and whether each project is still the same. */
export async function listTrust(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const store = trustOf(cli);
  const records = await store.list();
  const rows = await Promise.all(
    records.map(async (record) => ({ ...record, standing: (await store.inspect(record.folder)).status })),
  );
  if (flags.json) out.line(jsonLine(rows));
  else if (rows.length === 0) err.line("no trust decisions yet; to see the files of this project: troupe trust");
  else for (const line of tableOf(rows, out, cli.now())) out.line(line);
  return 0;
}

/** `troupe trust rm DIR`: forgets a trust decision. */
export async function removeTrust(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const record = await trustOf(cli).forget(resolve(cli.cwd, given));
  if (record === null) {
    throw new TroupeError("USAGE", `no trust decision is stored for ${cleanLine(given)}`, { fix: "troupe trust ls" });
  }
  cli.terminal.out.line(flags.json ? jsonLine(record) : `no longer trusted: ${cleanLine(record.folder)}`);
  return 0;
}

function trustOf({ home }: Cli): ProjectTrust {
  return createProjectTrust({ file: homeFiles(home).trust });
}

function folderOf(cli: Cli, given: string): string {
  const path = resolve(cli.cwd, given);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new TroupeError("USAGE", `${cleanLine(given)} is not a folder`, { fix: "troupe trust <folder>" });
}

const effects: Record<ProjectKind, string> = {
  configuration: "selects the models that answer here",
  tools: "code that runs as you inside troupe: tools for the agents here",
  hooks: "not used by troupe yet: programs that other agents start",
  commands: "not used by troupe yet: prompts for people",
  settings: "not used by troupe: settings of another program",
  mcp: "not used by troupe yet: servers that other agents start",
  agents: "counts already; trusted, it may also replace your own or a shipped agent",
  teams: "counts already; trusted, it may also replace your own or a shipped team",
};

function trustJson({ folder, files, definitions, hash, changes }: Project, status: TrustStatus) {
  const shown = files.map(({ path, kind, used, hash: of }) => ({ path, kind, used, does: effects[kind], hash: of }));
  const open = definitions.map(({ path, kind, hash: of }) => ({ path, kind, does: effects[kind], hash: of }));
  return { folder, standing: status, hash, changes, files: shown, definitions: open };
}

const statusWords: Record<TrustStatus, string> = {
  nothing: "has no files that need trust",
  trusted: "is trusted",
  untrusted: "is not trusted; these files are ignored",
  changed: "changed since you trusted it; these files are ignored",
  declined: "was declined; these files are ignored",
  refused: "cannot be trusted",
};

function render({ folder, files, definitions, status, changes }: Project, out: Output): string[] {
  const { colours, width } = out;
  const rows = [...files, ...definitions].map((file): Cell[] => [
    { text: cleanLine(file.path), paint: colours.bold },
    { text: file.kind },
    { text: shortHash(file), paint: colours.dim },
    { text: effects[file.kind], paint: file.used ? colours.yellow : colours.dim },
  ]);
  return [
    `${cleanLine(folder)} ${statusWords[status]}`,
    ...changes.map((change) => `  ${colours.yellow(cleanLine(change))}`),
    ...layout([{}, {}, {}, { flexible: true }], rows, width - 2).map((line) => `  ${line.trimEnd()}`),
  ];
}

function shortHash({ hash }: ProjectFile): string {
  return hash.slice(0, 12);
}

function tableOf(
  rows: readonly (TrustRecord & { standing: TrustStatus })[],
  { width, colours }: Output,
  now: number,
): string[] {
  const head: Cell[] = ["FOLDER", "STANDS", "FILES", "BY", "AGE"].map((text) => ({ text, paint: colours.dim }));
  const body = rows.map(({ folder, standing, files, by, at }): Cell[] => [
    { text: cleanLine(folder), paint: colours.bold },
    { text: standing, paint: standing === "trusted" ? colours.green : colours.yellow },
    { text: String(files.length) },
    { text: cleanLine(by) },
    { text: formatDuration(now - Date.parse(at)), paint: colours.dim },
  ]);
  return layout([{ flexible: true }, {}, { align: "right" }, {}, {}], [head, ...body], width);
}
