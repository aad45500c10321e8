import { execFile } from "node:child_process";
import { access, constants, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { chooseSearch, locateRipgrep } from "@troupe/tools";
import type { Home } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { toTroupeError } from "../render/failure.ts";
import { type Check, fail, ok, warn } from "./check.ts";
import { formatBytes } from "./stores.ts";

const freeBytes = { fail: 50 * 1024 ** 2, warn: 1024 ** 3 };

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return ok("node", version);
  return fail("node", `${version}; 22.13 or later is needed`, "install Node 24 from https://nodejs.org");
}

/** The home, or the folder that it would be made in: nothing is created by looking. */
export async function checkHome(home: Home): Promise<Check> {
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
  const detail = `${home.path}${exists ? "" : " (made at the first start)"}, ${formatBytes(free)} free`;
  const command = `df -h ${folder}`;
  if (free < freeBytes.fail) return fail("home", detail, command);
  if (free < freeBytes.warn) return warn("home", detail, command);
  const open = exists && ((await stat(folder)).mode & 0o077) !== 0;
  return open ? warn("home", `${detail}; other users can look into it`, `chmod 700 ${folder}`) : ok("home", detail);
}

async function nearestExisting(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await stat(folder).catch(() => null)) return folder;
    if (dirname(folder) === folder) return folder;
  }
}

/** Whether the daemon would get its usual port. */
export async function checkPort(port: number, ownerPort: number | null): Promise<Check> {
  if (ownerPort === port) return ok("port", `${port}, in use by the owner of this home`);
  const free = await new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
  if (free) return ok("port", `${port} is free`);
  return warn("port", `${port} is taken by another program; the next free one is used`, "troupe up --port 0");
}

/** Which service web_search asks. To have none is no fault, to have named one that cannot be asked is. */
export function checkSearch(env: NodeJS.ProcessEnv): Check {
  const { backend, problem } = chooseSearch({ env });
  if (backend) return ok("web search", `${backend.name}, at ${backend.url.host}`);
  const isWanted = Boolean(env.TROUPE_SEARCH || env.SEARXNG_URL);
  return isWanted ? warn("web search", problem, "export SEARXNG_URL=http://127.0.0.1:8888") : ok("web search", problem);
}

/** What versions are kept with. Without it only the tools that need it fail. */
export function checkGit(): Promise<Check> {
  return checkProgram("git", async () => "git", "install git: its tools and the worktrees of agents need it");
}

/** The program that searching tools run: the one that came with troupe, where there is one. */
export function checkRipgrep(): Promise<Check> {
  return checkProgram("rg", locateRipgrep, "install ripgrep: searching in files needs it");
}

async function checkProgram(name: string, locate: () => Promise<string>, fix: string): Promise<Check> {
  try {
    const program = await locate();
    const { stdout } = await promisify(execFile)(program, ["--version"], { timeout: 5_000 });
    const version = stdout.split("\n")[0]?.trim() ?? "";
    return ok(name, program === name ? version : `${version} (${program})`);
  } catch {
    return warn(name, "not found, or it does not run", fix);
  }
}

/** The way to others, where one is named: whether it leads anywhere, and what is there. */
export async function checkBus({ composition, home, env, cwd }: Cli): Promise<Check> {
  try {
    const found = await composition.checkNats({ home, env, cwd });
    if (!found) return ok("bus", "in-process");
    const { server, version, namespace, warnings } = found;
    const detail = `${server} answers: nats-server ${version} with JetStream, namespace ${namespace}`;
    const [warning] = warnings;
    if (warning === undefined) return ok("bus", detail);
    const more = warnings.length > 1 ? ` (and ${warnings.length - 1} more)` : "";
    return warn("bus", `${detail}; ${warning}${more}`, "troupe up   # says all of it at its start");
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("bus", message, fix ?? "unset NATS_URL");
  }
}
