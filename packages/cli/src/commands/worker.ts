import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import { Token } from "@troupe/core/internal";
import {
  homeFiles,
  type Lock,
  type NatsFlags,
  newHostId,
  prepareHome,
  type RunningWorker,
  tryLock,
  type Work,
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
  work: Work;
}

/** `troupe worker`: takes tasks of its agents, until a signal or somebody else stops it. Returns the exit code. */
export async function worker(cli: Cli, flags: WorkerFlags): Promise<number> {
  const name = nameOf(flags.name);
  const { err } = cli.terminal;
  // Undone in reverse, whichever step fails.
  const undo: (() => unknown)[] = [];
  try {
    const running = await startWorker(cli, name, flags, undo);
    cli.interrupts.signal.throwIfAborted();
    sayReady(cli, name, running, flags);
    const by = await Promise.race([running.asked, aborted(cli.interrupts.signal).then(() => null)]);
    if (err.isTerminal && by === null) err.line("");
    err.line(`draining${by === null ? "" : `, as ${cleanLine(by)} wants`}: what is at work is left to others`);
  } finally {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  }
  err.line("stopped");
  return 0;
}

async function startWorker(
  cli: Cli,
  name: string,
  { work, nats, workspace, ...flags }: WorkerFlags,
  undo: (() => unknown)[],
): Promise<RunningWorker> {
  const { home, env, interrupts, terminal } = cli;
  await prepareHome(home);
  const folder = { path: join(homeFiles(home).workers, name) };
  await prepareHome(folder);
  const isNamed = flags.name !== undefined;
  // The next one has another name: nobody would ever look at what this one leaves.
  if (!isNamed) undo.push(() => rm(folder.path, { recursive: true, force: true }));
  const lock = lockOf(homeFiles(folder).lock, name);
  undo.push(() => lock.release());
  const log = openLogger({ home: folder, env, now: new Date(cli.now()) });
  undo.push(() => log.close());
  const running = await cli.composition.startWorker({
    ...{ home, name, isNamed, work, nats, env },
    workspace: workspace === undefined ? cli.cwd : resolve(cli.cwd, workspace),
    logger: log.logger,
    signal: interrupts.signal,
    notice: (text) => terminal.err.line(cleanLine(text)),
  });
  undo.push(() => running.close());
  return running;
}

function sayReady(cli: Cli, name: string, running: RunningWorker, { json, work }: WorkerFlags): void {
  const { out, err } = cli.terminal;
  const { agents, place, warnings } = running;
  const { capacity } = work;
  for (const warning of warnings) err.line(`${err.colours.yellow("nats:")} ${cleanLine(warning)}`);
  const bus = running.bus();
  if (json) {
    out.line(jsonLine({ event: "ready", host: name, agents, capacity, place, bus, pid: process.pid }));
    return;
  }
  const facts = { bus, agents: agents.join(", "), capacity, place };
  for (const [key, fact] of Object.entries(facts))
    err.line(`  ${err.colours.dim(`${key}:`)} ${cleanLine(String(fact))}`);
  out.line(`${out.colours.green("ready")}  ${name}`);
}

function nameOf(given: string | undefined): string {
  if (given === undefined) return newHostId("worker");
  if (Token.safeParse(given).success && given !== "all") return given;
  throw new TroupeError("USAGE", `no host can be called ${JSON.stringify(given)}`, {
    fix: "--name gpu-1   # letters, digits, - and _",
  });
}

function lockOf(path: string, name: string): Lock {
  const lock = tryLock(path);
  if (lock) return lock;
  throw new TroupeError("CONFLICT", `a worker called ${name} is running with this home already`, {
    fix: `give this one another name: --name ${name}-2`,
  });
}
