import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import { Token } from "@troupe/core/internal";
import {
  type Cleanup,
  createCleanup,
  homeFiles,
  type Lock,
  type NatsFlags,
  newHostId,
  prepareHome,
  type RunningWorker,
  type ServeOptions,
  tryLock,
} from "troupe/internal";
import type { Cli } from "../cli.ts";
import { openLogger } from "../logger.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { aborted } from "../terminal/interrupts.ts";

export interface WorkerFlags {
  name?: string | undefined;
  workspace?: string | undefined;
  json: boolean;
  nats: NatsFlags;
  work: ServeOptions;
}

/** `troupe worker`: runs its agents until a signal or a drain stops it. Returns the exit code. */
export async function worker(cli: Cli, flags: WorkerFlags): Promise<number> {
  const name = nameOf(flags.name);
  const { err } = cli.terminal;
  const cleanup = createCleanup();
  err.line(trustNotice);
  try {
    const running = await startWorker(cli, name, flags, cleanup);
    cli.interrupts.signal.throwIfAborted();
    printReady(cli, name, running, flags);
    const by = await Promise.race([running.drainRequested, aborted(cli.interrupts.signal).then(() => null)]);
    if (err.isTerminal && by === null) err.line("");
    err.line(`draining${by === null ? "" : ` for ${cleanLine(by)}`}: other hosts continue its runs`);
  } finally {
    await cleanup.run();
  }
  err.line("stopped");
  return 0;
}

/** The first line, also with `--json`: a person reads it before the machine is connected. */
const trustNotice =
  "The credentials of a worker are a shell on every daemon of its namespace: connect only machines that you trust equally.";

async function startWorker(
  cli: Cli,
  name: string,
  { work, nats, workspace, ...flags }: WorkerFlags,
  cleanup: Cleanup,
): Promise<RunningWorker> {
  const { home, env, interrupts, terminal } = cli;
  await prepareHome(home);
  const folder = { path: join(homeFiles(home).workers, name) };
  await prepareHome(folder);
  const isNamed = flags.name !== undefined;
  // The next worker gets another name and would never use this folder.
  if (!isNamed) cleanup.add(() => rm(folder.path, { recursive: true, force: true }));
  const lock = takeLock(homeFiles(folder).lock, name);
  cleanup.add(() => lock.release());
  const log = openLogger({ home: folder, env, now: new Date(cli.now()) });
  cleanup.add(() => log.close());
  const running = await cli.composition.startWorker({
    ...{ home, name, isNamed, work, nats, env },
    workspace: workspace === undefined ? cli.cwd : resolve(cli.cwd, workspace),
    logger: log.logger,
    signal: interrupts.signal,
    notice: (text) => terminal.err.line(cleanLine(text)),
  });
  cleanup.add(() => running.close());
  return running;
}

function printReady(cli: Cli, name: string, running: RunningWorker, { json, work }: WorkerFlags): void {
  const { out, err } = cli.terminal;
  const { agents, locality, warnings } = running;
  const { capacity } = work;
  for (const warning of warnings) err.line(`${err.colours.yellow("nats:")} ${cleanLine(warning)}`);
  const bus = running.bus();
  if (json) {
    out.line(jsonLine({ event: "ready", host: name, agents, capacity, place: locality, bus, pid: process.pid }));
    return;
  }
  const facts = { bus, agents: agents.join(", "), capacity, place: locality };
  for (const [key, fact] of Object.entries(facts))
    err.line(`  ${err.colours.dim(`${key}:`)} ${cleanLine(String(fact))}`);
  out.line(`${out.colours.green("ready")}  ${name}`);
}

function nameOf(given: string | undefined): string {
  if (given === undefined) return newHostId("worker");
  if (Token.safeParse(given).success && given !== "all") return given;
  throw new TroupeError("USAGE", `${JSON.stringify(given)} is not a valid host name`, {
    fix: "--name gpu-1   # letters, digits, - and _",
  });
}

function takeLock(path: string, name: string): Lock {
  const lock = tryLock(path);
  if (lock) return lock;
  throw new TroupeError("CONFLICT", `a worker named ${name} is already running with this home`, {
    fix: `choose another name: --name ${name}-2`,
  });
}
