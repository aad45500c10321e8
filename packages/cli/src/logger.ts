import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Redactor, TroupeError } from "@troupe/core";
import { destination, type Logger, pino, stdTimeFunctions } from "pino";
import { createHomeRedactor, type Home, homeFiles, type OwnedHome } from "troupe/internal";
import { logFiles } from "./log-files.ts";

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
const bytesMax = 10 * 1024 * 1024;
const filesMax = 5;

export interface HomeLogger {
  logger: Logger;
  path: string;
  /** Flushes and closes the file. */
  close(): void;
}

/**
 * Opens the log of a home: JSON lines in `logs/troupe-<date>.log`, never on stdout. `TROUPE_LOG` sets the level. Secrets are
 * redacted. Code that logs for a session or run binds `session` and `run`. At the start a file over 10 MB is renamed, and
 * only the newest five files are kept.
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
  rotateIfLarge(path);
  removeOld(folder, path);
  // Synchronous, because the lines before a crash matter most.
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

/** Redacts a line just before it is written, so that no logger can bypass it. */
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
  throw new TroupeError("USAGE", `TROUPE_LOG is "${level}"; it must be one of ${levels.join(", ")}`, {
    fix: "export TROUPE_LOG=info",
  });
}

function rotateIfLarge(path: string): void {
  if (!existsSync(path) || statSync(path).size <= bytesMax) return;
  const stem = path.slice(0, -".log".length);
  let number = 1;
  while (existsSync(`${stem}.${number}.log`)) number += 1;
  renameSync(path, `${stem}.${number}.log`);
}

/** Deletes all but the newest files, with the current one among them. */
function removeOld(folder: string, current: string): void {
  const others = logFiles(folder).filter((path) => path !== current);
  for (const path of others.toReversed().slice(filesMax - 1)) rmSync(path, { force: true });
}
