import { execFile } from "node:child_process";
import { access, constants, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { formatBytes } from "@troupe/core/texts";
import { chooseSearch, findShortage, locateRipgrep } from "@troupe/tools";
import type { Home } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { toTroupeError } from "../render/failure.ts";
import { type Check, fail, ok, warn } from "./check.ts";

const freeBytes = { fail: 50 * 1024 ** 2, warn: 1024 ** 3 };

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return ok("node", version);
  return fail("node", `${version}; troupe needs 22.13 or later`, "install Node 24 from https://nodejs.org");
}

/**
 * Checks the home, or the folder in which it will be created. Creates nothing.
 *
 * @param freeMb the limit of free space in the policy; null for its default
 */
export async function checkHome(home: Home, freeMb: number | null = null): Promise<Check> {
  const folder = await nearestExisting(home.path);
  const exists = folder === home.path;
  const fix = "export TROUPE_HOME=<a folder that you can write>";
  try {
    if (!(await stat(folder)).isDirectory()) return fail("home", `${folder} is not a folder`, fix);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return fail("home", `${home.path} cannot be written: ${String(error)}`, fix);
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const detail = `${home.path}${exists ? "" : " (created at the first start)"}, ${formatBytes(free)} free`;
  const command = `df -h ${folder}`;
  const shortage = await findShortage(folder, freeMb);
  if (shortage !== null) return fail("home", `calls that may write wait: ${shortage.message}`, command);
  if (free < freeBytes.fail) return fail("home", detail, command);
  if (free < freeBytes.warn) return warn("home", detail, command);
  const open = exists && ((await stat(folder)).mode & 0o077) !== 0;
  return open ? warn("home", `${detail}; other users can read it`, `chmod 700 ${folder}`) : ok("home", detail);
}

async function nearestExisting(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await stat(folder).catch(() => null)) return folder;
    if (dirname(folder) === folder) return folder;
  }
}

/** Checks whether the daemon's default port is free. */
export async function checkPort(port: number, ownerPort: number | null): Promise<Check> {
  if (ownerPort === port) return ok("port", `${port}, in use by the owner of this home`);
  const free = await new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
  if (free) return ok("port", `${port} is free`);
  return warn("port", `${port} is taken by another program; troupe up takes the next free port`, "troupe up --port 0");
}

/** The service behind `web_search`. No service is fine; a configured one that cannot be used is a warning. */
export function checkSearch(env: NodeJS.ProcessEnv): Check {
  const { backend, problem } = chooseSearch({ env });
  if (backend) return ok("web search", `${backend.name}, at ${backend.url.host}`);
  const isWanted = Boolean(env.TROUPE_SEARCH || env.SEARXNG_URL);
  return isWanted ? warn("web search", problem, "export SEARXNG_URL=http://127.0.0.1:8888") : ok("web search", problem);
}

/** Git, which only its own tools and worktrees need. */
export function checkGit(): Promise<Check> {
  return checkProgram("git", async () => "git", "install git: the git tools and worktrees need it");
}

/** Ripgrep for the search tools: the one that is installed with troupe, else the one on the PATH. */
export function checkRipgrep(): Promise<Check> {
  return checkProgram("rg", locateRipgrep, "install ripgrep: the search tools need it");
}

async function checkProgram(name: string, locate: () => Promise<string>, fix: string): Promise<Check> {
  try {
    const program = await locate();
    const { stdout } = await promisify(execFile)(program, ["--version"], { timeout: 5_000 });
    const version = stdout.split("\n")[0]?.trim() ?? "";
    return ok(name, program === name ? version : `${version} (${program})`);
  } catch {
    return warn(name, "not found, or it cannot run", fix);
  }
}

/** Checks the NATS connection, if a server is configured. */
export async function checkBus({ composition, home, env, cwd }: Cli): Promise<Check> {
  try {
    const found = await composition.checkNats({ home, env, cwd });
    if (!found) return ok("bus", "in-process");
    const { server, version, namespace, warnings } = found;
    const detail = `${server} answers: nats-server ${version} with JetStream, namespace ${namespace}`;
    const [warning] = warnings;
    if (warning === undefined) return ok("bus", detail);
    const more = warnings.length > 1 ? ` (and ${warnings.length - 1} more)` : "";
    return warn("bus", `${detail}; ${warning}${more}`, "troupe up   # prints every warning at its start");
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("bus", message, fix ?? "unset NATS_URL");
  }
}
