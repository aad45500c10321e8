import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Redactor, TroupeError } from "@troupe/core";
import { destination, type Logger, pino, stdTimeFunctions } from "pino";
import { createHomeRedactor, type Home, homeFiles, type OwnedHome } from "troupe/internal";

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
const bytesMax = 10 * 1024 * 1024;
const filesMax = 5;

export interface HomeLogger {
  logger: Logger;
  path: string;
  /** Writes what is left and closes the file. */
  close(): void;
}

/**
 * JSON lines to `logs/troupe-<date>.log` of a home; never to stdout, which belongs to answers. `TROUPE_LOG` is the
 * level. No secret is written. Whoever logs for a session or run binds `session` and `run`. At start a file over 10 MB is set aside and only
 * the newest five stay.
 */
export function openLogger(options: {
  home: Home & Partial<Pick<OwnedHome, "token">>;
  env: NodeJS.ProcessEnv;
  now: Date;
}): HomeLogger {
  const level = levelOf(options.env);
  const folder = homeFiles(options.home).logs;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `troupe-${options.now.toISOString().slice(0, 10)}.log`);
  setAsideWhenBig(path);
  removeOld(folder, path);
  // Synchronous: the lines before a crash are the ones that matter.
  const file = destination({ dest: path, append: true, sync: true, mode: 0o600 });
  const { token } = options.home;
  const redact = createHomeRedactor({ env: options.env, ...(token === undefined ? {} : { token }) });
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      redact: secrets,
      hooks: { streamWrite: (line) => redactLine(line, redact) },
    },
    file,
  );
  return { logger, path, close: () => file.end() };
}

const secrets = ["token", "apiKey", "authorization"].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** The last moment before a line is written: nothing that is logged, by whomever, gets past it. */
function redactLine(line: string, redact: Redactor): string {
  if (!redact.mayBeIn(line)) return line;
  try {
    return `${JSON.stringify(redact.json(JSON.parse(line)))}\n`;
  } catch {
    return redact.text(line);
  }
}

function levelOf(env: NodeJS.ProcessEnv): string {
  const level = env.TROUPE_LOG || "info";
  if (levels.includes(level)) return level;
  throw new TroupeError("USAGE", `TROUPE_LOG is "${level}", which is not one of ${levels.join(", ")}`, {
    fix: "export TROUPE_LOG=info",
  });
}

function setAsideWhenBig(path: string): void {
  if (!existsSync(path) || statSync(path).size <= bytesMax) return;
  const stem = path.slice(0, -".log".length);
  let number = 1;
  while (existsSync(`${stem}.${number}.log`)) number += 1;
  renameSync(path, `${stem}.${number}.log`);
}

/** Leaves room for the current one among the newest. */
function removeOld(folder: string, current: string): void {
  const others = readdirSync(folder)
    .filter((name) => /^troupe-.*\.log$/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => path !== current)
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .sort((one, other) => other.at - one.at);
  for (const { path } of others.slice(filesMax - 1)) rmSync(path, { force: true });
}
