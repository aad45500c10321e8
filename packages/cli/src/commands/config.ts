import { TroupeError } from "@troupe/core";
import { didYouMean } from "@troupe/core/internal";
import { type Config, type ConfigRow, describeOrigin, userConfigFile } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { configRows } from "../config/config-rows.ts";
import { configTemplate } from "../config/config-template.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { type Cell, layout } from "../render/layout.ts";
import { createConfiguration } from "../setup/configuration.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe config list`: lists the settings that apply in this folder. */
export async function listConfig(cli: Cli, flags: { showOrigin: boolean; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const config = await configHere(cli);
  const rows = configRows(config);
  const { ignoredReason } = config;
  const warnings = ignoredReason === null ? config.warnings : [...config.warnings, ignoredReason];
  if (flags.json) out.line(jsonLine({ settings: rows, untrusted: config.untrusted, warnings }));
  else {
    const untrusted = flags.showOrigin ? config.untrusted : [];
    const cells = [
      ...rows.map((row) => cellsOf(row, flags.showOrigin ? describeOrigin(row.origin) : null, out)),
      ...untrusted.map((row) => cellsOf(row, `ignored: not trusted (${row.origin.where})`, out)),
    ];
    for (const line of layout([{}, {}, {}], cells, out.width)) out.line(line.trimEnd());
    for (const warning of warnings) err.line(`${err.colours.yellow("warning:")} ${cleanLine(warning)}`);
  }
  return 0;
}

function cellsOf(row: ConfigRow, origin: string | null, { colours }: Output): Cell[] {
  const cells: Cell[] = [{ text: cleanLine(row.key), paint: colours.bold }, { text: formatValue(row) }];
  return origin === null ? cells : [...cells, { text: cleanLine(origin), paint: colours.dim }];
}

/** `troupe config get KEY`: prints one setting, or every setting below a key. */
export async function getConfig(cli: Cli, key: string, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const rows = configRows(await configHere(cli));
  const found = rows.filter((row) => row.key === key || row.key.startsWith(`${key}.`));
  if (found.length === 0) throw noSuchSetting(key, rows);
  if (flags.json) out.line(jsonLine(found));
  else
    for (const row of found) out.line(row.key === key ? formatValue(row) : `${cleanLine(row.key)} ${formatValue(row)}`);
  return 0;
}

/** `troupe config path`: prints the paths of the configuration files, and whether they exist. */
export async function configPath(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const path = userConfigFile(cli);
  if (flags.json) {
    const { files } = await configHere(cli);
    out.line(jsonLine(files));
    return 0;
  }
  out.line(path);
  const { files } = await configHere(cli).catch(() => ({ files: null }));
  for (const [whose, file] of Object.entries(files ?? {})) {
    if (file) err.line(err.colours.dim(`${whose}: ${file.path}${file.exists ? "" : " (does not exist)"}`));
  }
  return 0;
}

/** `troupe config init`: writes the user's file with every setting explained. Never overwrites a file. */
export async function initConfig(cli: Cli, flags: { json: boolean }): Promise<number> {
  const path = userConfigFile(cli);
  if (!(await createConfiguration(path, configTemplate))) {
    throw new TroupeError("CONFLICT", `${path} exists already and was not changed`, { fix: "troupe config list" });
  }
  cli.terminal.out.line(flags.json ? jsonLine({ path }) : path);
  return 0;
}

function configHere({ composition, home, env, cwd }: Cli): Promise<Config> {
  return composition.readConfig({ home, env, cwd, workspace: cwd });
}

function formatValue({ value }: ConfigRow): string {
  return value === null ? "–" : cleanLine(String(value));
}

function noSuchSetting(key: string, rows: readonly ConfigRow[]): TroupeError {
  const known = rows.map((row) => row.key);
  return new TroupeError("USAGE", `there is no setting ${JSON.stringify(cleanLine(key))}`, {
    fix: didYouMean(key, known) ?? "troupe config list",
  });
}
