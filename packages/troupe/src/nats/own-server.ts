import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { accessSync, constants, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type Logger, TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Cleanup } from "../cleanup.ts";
import { type Home, writePrivateFile } from "../home/home.ts";
import type { Connection, NatsServerAccess } from "./connection.ts";
import { keepServerRunning } from "./keep-server.ts";
import { loadNats } from "./load-nats.ts";

export interface OwnServerOptions {
  home: Home;
  env: NodeJS.ProcessEnv;
  logger: Logger;
}

export interface RunningOwnServer {
  url: string;
  /** File of a NATS context with the credentials, readable for this user only. */
  contextFile: string;
  access: NatsServerAccess;
  stop(): Promise<void>;
}

/**
 * Starts a NATS server for this home. It listens on loopback only, has generated credentials and stores its data in the
 * home. It uses the same port at every start if that port is free. It stops when this process ends for any reason, and
 * restarts if it exits on its own.
 */
export async function startOwnServer({ home, env, logger }: OwnServerOptions): Promise<RunningOwnServer> {
  const program = findServerProgram(env);
  const { natsAccess } = await loadNats();
  const folder = join(home.path, "nats");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const contextFile = join(folder, "context.json");
  const before = await readSavedServer(contextFile);
  const port = await freePort(before ? Number(new URL(before.url).port) : 0);
  const url = `nats://127.0.0.1:${port}`;
  const password = before?.password ?? randomBytes(24).toString("base64url");
  const context = { description: "the troupe of this home", url, user, password };
  await writePrivateFile(contextFile, `${JSON.stringify(context, null, 2)}\n`);
  const configFile = join(folder, "server.conf");
  const isSynced = await writeConfig({ program, configFile, folder, port, password });
  if (!isSynced)
    logger.warn({ program }, "this nats-server cannot sync every write: a power failure can lose the newest entries");
  const stop = await keepServerRunning({ program, configFile, port, logger });
  logger.info({ url, program, isSynced }, "started a NATS server for this home");
  return {
    url,
    contextFile,
    stop,
    access: {
      servers: url,
      access: natsAccess({ credentials: { kind: "user", user, password } }),
      secrets: [{ name: "NATS credentials", value: password }],
      origin: { from: "flag", where: "--nats auto" },
    },
  };
}

const user = "troupe";

const SavedServer = z.object({ url: z.url(), password: z.string().min(20) });

/** Address and password of the previous start; null if the file is missing or damaged. */
async function readSavedServer(path: string): Promise<z.infer<typeof SavedServer> | null> {
  try {
    return SavedServer.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return null;
  }
}

interface ServerConfig {
  program: string;
  configFile: string;
  folder: string;
  port: number;
  password: string;
}

/** Writes the configuration. Returns true if the server can sync every write to disk before it acknowledges it. */
async function writeConfig(config: ServerConfig): Promise<boolean> {
  await writePrivateFile(config.configFile, configText(config, "  sync_interval: always\n"));
  if (await acceptsConfig(config.program, config.configFile)) return true;
  await writePrivateFile(config.configFile, configText(config, ""));
  if (await acceptsConfig(config.program, config.configFile)) return false;
  throw new TroupeError("UNSUPPORTED_SERVER", `${config.program} rejects ${config.configFile}`, {
    fix: "install nats-server 2.11.16, 2.12.7 or later: https://github.com/nats-io/nats-server/releases",
  });
}

function configText({ folder, port, password }: ServerConfig, sync: string): string {
  return `# Written by troupe up --nats auto at every start.
listen: "127.0.0.1:${port}"
server_name: "troupe-own"
pid_file: ${JSON.stringify(join(folder, "server.pid"))}
jetstream {
  store_dir: ${JSON.stringify(join(folder, "store"))}
${sync}}
authorization {
  user: ${user}
  password: ${JSON.stringify(password)}
}
`;
}

/** The wanted port if it is free, else any free port. A stable port lets workers reconnect. */
async function freePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? 4222;
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : null));
    });
  });
}

/** Address of the server that this process started, for workers. */
export interface OwnServer {
  url: string;
  /** A NATS context with its credentials, for this user only. */
  contextFile: string;
}

/** Starts a server for `--nats auto`. Every other connection is returned unchanged. */
export async function startOwnServerIfAsked(
  connection: Connection,
  options: { home: Home; env: NodeJS.ProcessEnv; logger: Logger },
  cleanup: Cleanup,
): Promise<{ connection: Exclude<Connection, { kind: "auto" }>; own: OwnServer | null }> {
  if (connection.kind !== "auto") return { connection, own: null };
  const { access, stop, url, contextFile } = await startOwnServer(options);
  cleanup.add(stop);
  return { connection: { ...connection, kind: "server", server: access }, own: { url, contextFile } };
}

const fix =
  "brew install nats-server, or download it from https://github.com/nats-io/nats-server/releases and export TROUPE_NATS_SERVER=<file>";

/** Path of the server program: `TROUPE_NATS_SERVER`, else `nats-server` on the PATH. */
export function findServerProgram(env: NodeJS.ProcessEnv): string {
  const named = env.TROUPE_NATS_SERVER;
  if (named) {
    if (isExecutable(named)) return named;
    throw new TroupeError("INVALID_CONFIG", `TROUPE_NATS_SERVER names ${named}, which is not an executable file`, {
      fix,
    });
  }
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const found = folders.map((folder) => join(folder, "nats-server")).find(isExecutable);
  if (found) return found;
  throw new TroupeError("INVALID_CONFIG", "--nats auto needs nats-server, and it is not on the PATH", { fix });
}

/** True if this version of the server accepts the configuration file. */
export async function acceptsConfig(program: string, configFile: string): Promise<boolean> {
  try {
    await promisify(execFile)(program, ["-t", "-c", configFile], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
