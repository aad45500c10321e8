import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface FloorServer {
  url: string;
  /** Resolves when so many sub-agents wait for their first answer. */
  waits(count: number): Promise<void>;
  close(): void;
}

/** Starts the model server in its own process, so that its CPU time is in no figure. */
export async function startFloorServer(children: number, latencyMs: number, mainLatencyMs = latencyMs) {
  const file = fileURLToPath(new URL("server.ts", import.meta.url));
  const args = [file, ...[children, latencyMs, mainLatencyMs].map(String)];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  // Also when a measurement fails.
  process.once("exit", () => server.kill());
  const { url } = await new Promise<{ url: string }>((resolve, reject) => {
    server.stdout.once("data", (line: Buffer) => resolve(JSON.parse(line.toString())));
    server.once("exit", () => reject(new Error("the model server ended")));
  });
  const floor: FloorServer = {
    url,
    async waits(count) {
      while (Number(await (await fetch(`${url}/waiting`)).text()) < count) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    close: () => void server.kill(),
  };
  return floor;
}
