import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { until } from "../until.ts";

/** A server of a Debian package, with its own folder. */
export interface ServerProcess {
  child: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a server, and waits until all of its ports accept connections. */
export async function startServer(
  command: string,
  args: readonly string[],
  ports: readonly number[],
  ids: { uid?: number; gid?: number } = {},
): Promise<ServerProcess> {
  const output: string[] = [];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...ids });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(String(chunk)));
  const ended = once(child, "close");
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await ended;
  };
  try {
    for (const port of ports) {
      await until(async () => {
        if (child.exitCode !== null) throw new Error(`${command} ended: ${output.join("")}`);
        return await accepts(port);
      });
    }
    return { child, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.on("connect", () => socket.destroy());
    socket.on("error", () => resolve(false));
  });
}

/** The path of a program. Throws with the command that installs it. */
export function programOf(name: string, debianPackage: string): string {
  if (name.startsWith("/")) return name;
  for (const folder of [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/bin"]) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The next folder can have it.
    }
  }
  throw new Error(`${name} is not installed; run: apt-get install --no-install-recommends ${debianPackage}`);
}
