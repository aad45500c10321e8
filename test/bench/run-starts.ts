import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { cleanEnv } from "../harness/clean-env.ts";
import { cliPath } from "../harness/cli-path.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { saying } from "../harness/scenario-file.ts";

const timesCount = 20;

/** Times in milliseconds, one of each round. A round measures all of them, so that a busy moment slows all of them. */
export interface RunStarts {
  /** `troupe --help`, to its exit. */
  helpMs: number[];
  /** `troupe run` in its own process, until its first request reaches the model server. */
  aloneMs: number[];
  /** `troupe run` beside a daemon, until the daemon's first request reaches the model server. */
  withDaemonMs: number[];
  /** A node that does nothing, to its exit. */
  floorMs: number[];
  /** A node that sends one HTTP request, until the request reaches the server. */
  requestFloorMs: number[];
}

/** Measures the starts of commands with existing homes, after one start of each that does not count. */
export async function measureRunStarts(): Promise<RunStarts> {
  const folder = await mkdtemp(path.join(tmpdir(), "troupe-bench-run-"));
  const models = await startModelServer({ scenario: { agents: saying("Done.") } });
  const bare = await startBareServer();
  const [alone, joined] = [path.join(folder, "alone"), path.join(folder, "joined")];
  const work = path.join(folder, "work");
  for (const one of [alone, joined, work]) await mkdir(one);
  const envOf = (home: string): Record<string, string> => ({
    ...cleanEnv(home),
    OPENAI_BASE_URL: models.openaiUrl,
    OPENAI_API_KEY: "any",
    TROUPE_MODEL: "openai/gpt-4o",
  });
  const runIn = (home: string): Promise<number> =>
    timeTo(() => models.waitForCalls(models.calls().length + 1), [cliPath, "run", "--quiet", "go"], {
      env: envOf(home),
      cwd: work,
    });
  const daemon = await startDaemon(envOf(joined));
  try {
    const round = async (): Promise<Record<keyof RunStarts, number>> => ({
      helpMs: await timeTo(null, [cliPath, "--help"], { env: envOf(alone), cwd: work }),
      aloneMs: await runIn(alone),
      withDaemonMs: await runIn(joined),
      floorMs: await timeTo(null, ["-e", "0"]),
      requestFloorMs: await timeTo(bare.waitForRequest, ["-e", requestOf(bare.url)]),
    });
    await round();
    const rounds: Awaited<ReturnType<typeof round>>[] = [];
    for (let i = 0; i < timesCount; i += 1) rounds.push(await round());
    const all = (name: keyof RunStarts): number[] => rounds.map((one) => one[name]);
    return {
      helpMs: all("helpMs"),
      aloneMs: all("aloneMs"),
      withDaemonMs: all("withDaemonMs"),
      floorMs: all("floorMs"),
      requestFloorMs: all("requestFloorMs"),
    };
  } finally {
    daemon.kill("SIGINT");
    await once(daemon, "exit");
    await models.close();
    bare.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The time from the start of a node until the event, or until the process exits. The process must succeed. */
async function timeTo(
  event: (() => Promise<unknown>) | null,
  args: string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Promise<number> {
  const startedMs = performance.now();
  const reached = event?.();
  const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(child, "exit").then(([code]) => {
    if (code !== 0) throw new Error(`node ${args.join(" ")} exited with ${code}`);
  });
  await Promise.race([reached ?? exited, exited.then(() => reached)]);
  const elapsedMs = performance.now() - startedMs;
  await exited;
  return elapsedMs;
}

async function startDaemon(env: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [cliPath, "up", "--json", "--no-open", "--port", "0"], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(createInterface({ input: child.stdout }), "line");
  return child;
}

async function startBareServer() {
  const server = createServer((_, response) => response.end("ok"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    waitForRequest: () => once(server, "request"),
    close: () => server.close(),
  };
}

function requestOf(url: string): string {
  return `require("node:http").request(${JSON.stringify(url)}, { method: "POST" }, (reply) => reply.resume()).end("{}")`;
}
