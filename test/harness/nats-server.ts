import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

export interface NatsServer {
  url: string;
  port: number;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Again, on the same port and with the same store. */
  restart(): Promise<void>;
  /** SIGSTOP and SIGCONT: its state is outdated when it continues. */
  freeze(): void;
  thaw(): void;
  /** Reloads another configuration, as SIGHUP does. */
  reconfigure(config: string): Promise<void>;
  /** Ends it, removes its store, and starts it again. */
  wipe(): Promise<void>;
  /** Ends it and removes its store. */
  stop(): Promise<void>;
}

export interface NatsServerOptions {
  /** @default -1, any free one */
  port?: number;
  /** More flags, such as `["--user", "a", "--pass", "b"]`. */
  flags?: readonly string[];
  /** Text of its configuration file, with users and permissions. */
  config?: string;
  /** One that stores nothing. */
  withoutJetStream?: boolean;
}

/** Why tests are skipped where there is no server. Stands in their names, so that the report shows it. */
export const natsServerMissing = "no nats-server: put one on the PATH, or name it in TROUPE_TEST_NATS_SERVER";

/**
 * The binary: the one named in the environment, else the one on the PATH, else the one that the test command has
 * fetched into the cache folder. Null when there is none.
 */
export function findNatsServer(env: NodeJS.ProcessEnv = process.env): string | null {
  const named = env.TROUPE_TEST_NATS_SERVER;
  if (named) return isExecutable(named) ? named : null;
  const cache = env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folders = [...(env.PATH ?? "").split(delimiter).filter(Boolean), join(cache, "troupe-dev", "nats-server")];
  return folders.map((folder) => join(folder, "nats-server")).find(isExecutable) ?? null;
}

/** Starts a private server on this machine, with JetStream and its own store. */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<NatsServer> {
  const { port = -1, flags = [], config, withoutJetStream = false } = options;
  const binary = findNatsServer();
  if (binary === null) throw new Error(natsServerMissing);
  const store = await mkdtemp(join(tmpdir(), "troupe-nats-"));
  const configFile = `${store}.conf`;
  if (config !== undefined) await writeFile(configFile, config);
  const configured = config === undefined ? [] : ["--config", configFile];
  const stored = withoutJetStream ? [] : ["--jetstream", "--store_dir", store];
  const start = (at: number): Promise<Running> =>
    run(binary, ["--addr", "127.0.0.1", "--port", String(at), ...stored, ...configured, ...flags]);
  let running = await start(port);
  const boundPort = running.port;

  return {
    url: `nats://127.0.0.1:${boundPort}`,
    port: boundPort,
    kill: () => end(running.child),
    async restart() {
      await end(running.child);
      running = await start(boundPort);
    },
    freeze: () => void running.child.kill("SIGSTOP"),
    thaw: () => void running.child.kill("SIGCONT"),
    async wipe() {
      await end(running.child);
      await rm(store, { recursive: true, force: true });
      running = await start(boundPort);
    },
    async reconfigure(text) {
      await writeFile(configFile, text);
      running.child.kill("SIGHUP");
    },
    async stop() {
      await end(running.child);
      await rm(store, { recursive: true, force: true });
      await rm(configFile, { force: true });
    },
  };
}

interface Running {
  child: ChildProcess;
  port: number;
}

/** Child processes that must die with this process, even when a signal ends it. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Resolves when the server itself says that it is ready. */
async function run(binary: string, args: string[]): Promise<Running> {
  const child = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  await once(child, "spawn");

  const lines: string[] = [];
  let port = 0;
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    port = Number(/client connections on .*:(\d+)$/.exec(line)?.[1] ?? port);
    if (line.endsWith("Server is ready")) {
      // Unread, its log would fill the pipe and stop it.
      child.stderr.resume();
      return { child, port };
    }
  }
  throw new Error(`nats-server did not start:\n${lines.slice(-5).join("\n")}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
