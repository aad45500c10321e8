import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Logger, TroupeError } from "@troupe/core";

/**
 * Runs the server as a child of a shell. The shell reads a pipe that this process holds open. When this process ends for
 * any reason, even `kill -9`, the pipe closes and the shell stops the server. A shell, because it is available wherever
 * `nats-server` runs and outlives this process.
 */
const wrapperScript = `
exec 3<&0
"$@" </dev/null 3<&- & server=$!
{ read -r nothing <&3; kill -TERM $server 2>/dev/null; } & watcher=$!
exec 3<&-
wait $server; code=$?
kill $watcher 2>/dev/null
exit $code
`;

export interface KeepServerOptions {
  program: string;
  configFile: string;
  port: number;
  logger: Logger;
}

const readyMs = 15_000;
const stopMs = 5_000;
const restartMs = { first: 250, max: 10_000 };

/** Starts the server, waits until it listens, and restarts it if it exits. Returns a function that stops it. */
export async function keepServerRunning(options: KeepServerOptions): Promise<() => Promise<void>> {
  const { logger, port, program } = options;
  const stopping = new AbortController();
  let running = spawnServer(options);
  const restarting = (async () => {
    for (let pauseMs = restartMs.first; ; pauseMs = Math.min(2 * pauseMs, restartMs.max)) {
      const startedAt = performance.now();
      await running.ended;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > 60_000) pauseMs = restartMs.first;
      logger.error({ program, said: running.output().slice(-500) }, "the NATS server exited; restarting it");
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      running = spawnServer(options);
    }
  })();
  const stop = async (): Promise<void> => {
    stopping.abort();
    running.child.stdin?.destroy();
    const late = delay(stopMs, undefined, { ref: false }).then(() => killGroup(running.child));
    await Promise.race([restarting, late]);
  };
  const isUp = await Promise.race([listens(port, stopping.signal), running.ended.then(() => false)]);
  if (isUp) return stop;
  const output = running.output();
  await stop();
  throw new TroupeError("INVALID_CONFIG", `${program} did not start: ${output.slice(-500)}`, {
    fix: `${program} -c ${options.configFile}   # prints the reason`,
  });
}

interface RunningServer {
  child: ChildProcess;
  ended: Promise<void>;
  /** The last lines of its output. */
  output(): string;
}

function spawnServer({ program, configFile }: KeepServerOptions): RunningServer {
  // Its own process group: Ctrl-C at the terminal must reach troupe only, which needs the server to shut down cleanly.
  const child = spawn("/bin/sh", ["-c", wrapperScript, "sh", program, "-c", configFile], {
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  let output = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-4_000);
  });
  child.stdin?.on("error", () => {});
  const ended = Promise.race([once(child, "exit"), once(child, "error")]).then(
    () => {},
    () => {},
  );
  return { child, ended: ended.then(() => void child.stdin?.destroy()), output: () => output.trim() };
}

/** Kills the shell and its server. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has already exited.
  }
}

/** Resolves with true as soon as the port answers. */
async function listens(port: number, signal: AbortSignal): Promise<boolean> {
  const givenUpAt = performance.now() + readyMs;
  while (!signal.aborted && performance.now() < givenUpAt) {
    if (await answers(port)) return true;
    await delay(25);
  }
  return false;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}
