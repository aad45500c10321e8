import { existsSync, readdirSync, statSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import { homeFiles } from "troupe/internal";
import { z } from "zod";
import type { Cli } from "../cli.ts";
import { logFiles } from "../log-files.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import type { Colours } from "../terminal/terminal.ts";

export interface LogFlags {
  follow: boolean;
  /** Only lines about this session or run, by the beginning of its id. */
  run: string | null;
  /** The log of this worker of the machine, instead of the daemon's. */
  host: string | null;
  /** The lowest level. */
  level: Level;
  /** Number of newest lines that match. */
  lines: number;
  json: boolean;
}

const levels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;
export type Level = keyof typeof levels;

/** A level by its name. Throws `USAGE` for an unknown one. */
export function parseLevel(text: string): Level {
  const level = Object.keys(levels).find((name): name is Level => name === text);
  if (level) return level;
  throw new TroupeError(
    "USAGE",
    `--level is ${JSON.stringify(cleanLine(text))}; it must be one of ${Object.keys(levels).join(", ")}`,
    {
      fix: "troupe logs --level warn",
    },
  );
}

const LogLine = z.looseObject({ level: z.number(), time: z.string(), msg: z.string().default("") });
type LogLine = z.infer<typeof LogLine>;

const pollMs = 250;

/** `troupe logs`: prints the newest lines of the log of this home, and with `follow` every further one. */
export async function logs(cli: Cli, flags: LogFlags): Promise<number> {
  const { out, err } = cli.terminal;
  const folder = logFolder(cli, flags.host);
  const files = filesIn(folder);
  const newest: LogLine[] = [];
  for (const file of files.toReversed()) {
    if (newest.length >= flags.lines) break;
    newest.unshift(...matching(await readFile(file, "utf8"), flags).slice(-(flags.lines - newest.length)));
  }
  if (newest.length === 0 && !flags.follow) err.line(`no line of ${cleanLine(folder)} matches`);
  for (const line of newest) out.line(printed(line, flags, out.colours));
  if (flags.follow) await follow(cli, folder, flags);
  return 0;
}

/** A worker has a folder of its own in the home. */
function logFolder({ home }: Cli, host: string | null): string {
  if (host === null) return homeFiles(home).logs;
  const { workers } = homeFiles(home);
  const names = existsSync(workers) ? readdirSync(workers) : [];
  if (names.includes(host)) return homeFiles({ path: join(workers, host) }).logs;
  const known = names.length === 0 ? "no worker has a log here" : `workers with a log here: ${names.join(", ")}`;
  throw new TroupeError(
    "UNKNOWN_HOST",
    `no worker ${JSON.stringify(cleanLine(host))} has a log on this machine; ${known}`,
    {
      fix: "troupe hosts ls   # the log of a worker is on its own machine",
    },
  );
}

/** A home without a log has no folder of logs. */
function filesIn(folder: string): string[] {
  return existsSync(folder) ? logFiles(folder) : [];
}

/** Prints the lines that are added to the newest file, and goes on with a new one after midnight or a rotation. */
async function follow({ terminal: { out }, interrupts }: Cli, folder: string, flags: LogFlags): Promise<void> {
  let path = filesIn(folder).at(-1) ?? null;
  let position = path === null ? 0 : statSync(path).size;
  let rest = "";
  while (!interrupts.signal.aborted) {
    const newest = filesIn(folder).at(-1) ?? null;
    if (path !== null) {
      const { text, end } = await readFrom(path, position);
      position = end;
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of matching(lines.join("\n"), flags)) out.line(printed(line, flags, out.colours));
    }
    if (newest !== path) {
      path = newest;
      position = 0;
      rest = "";
      continue;
    }
    await delay(pollMs, undefined, { signal: interrupts.signal }).catch(() => {});
  }
}

async function readFrom(path: string, position: number): Promise<{ text: string; end: number }> {
  // A rotated file has another name; its rest was read before.
  if (!existsSync(path)) return { text: "", end: position };
  await using file = await open(path);
  const { size } = await file.stat();
  if (size <= position) return { text: "", end: Math.min(size, position) };
  const bytes = Buffer.alloc(size - position);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, position);
  // A character can be cut by the end of what was written so far: only whole lines are decoded.
  const whole = bytes.subarray(0, bytesRead).lastIndexOf(10) + 1;
  return { text: bytes.subarray(0, whole).toString("utf8"), end: position + whole };
}

function matching(text: string, flags: LogFlags): LogLine[] {
  return text.split("\n").flatMap((line) => {
    const parsed = line === "" ? null : LogLine.safeParse(parseJson(line)).data;
    return parsed && isWanted(parsed, flags) ? [parsed] : [];
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The line of a process that was killed while it wrote.
    return null;
  }
}

function isWanted(line: LogLine, { level, run }: LogFlags): boolean {
  const isOf = (wanted: string): boolean =>
    [line.run, line.session].some((id) => typeof id === "string" && id.startsWith(wanted.toLowerCase()));
  return line.level >= levels[level] && (run === null || isOf(run));
}

const basics = new Set(["level", "time", "msg", "pid"]);

function printed(line: LogLine, { json }: LogFlags, colours: Colours): string {
  if (json) return jsonLine(line);
  const { level, time, msg } = line;
  const name = Object.entries(levels).findLast(([, value]) => level >= value)?.[0] ?? "trace";
  const paint = level >= levels.error ? colours.red : level >= levels.warn ? colours.yellow : colours.dim;
  const rest = Object.entries(line)
    .filter(([key]) => !basics.has(key))
    .map(([key, value]) => `${cleanLine(key)}=${cleanLine(typeof value === "string" ? value : JSON.stringify(value))}`);
  const fields = rest.length === 0 ? "" : `  ${colours.dim(rest.join(" "))}`;
  return `${colours.dim(time)} ${paint(name.padEnd(5))} ${cleanLine(msg)}${fields}`;
}
