import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Scope } from "./scope.ts";

export type MemberKind = "nats" | "daemon" | "worker";

/** One process under one id, from its start to its end. */
export interface MemberProcess {
  pid: number;
  startedAt: number;
  readyAt: number | null;
  endedAt: number | null;
  signal: NodeJS.Signals | null;
  code: number | null;
  /** Fields of its ready line. */
  ready: Record<string, unknown>;
}

/** A part of a troupe that may die at any moment and is started again under the same name, as its keeper would. */
export interface Member {
  readonly name: string;
  readonly kind: MemberKind;
  readonly processes: readonly MemberProcess[];
  /** The life that is ready; null while there is none. */
  current(): MemberProcess | null;
  /** Resolves when it is ready. A process that ends before is started again, because its server may be away. */
  start(env?: Record<string, string>): Promise<MemberProcess>;
  /** SIGKILL; resolves when it is gone. Null where nothing lived. */
  kill(): Promise<MemberProcess | null>;
  /** SIGTERM; resolves when it has ended by itself. */
  stop(): Promise<MemberProcess | null>;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  /** Resolves when the current process has ended, for whatever reason. */
  ended(): Promise<MemberProcess | null>;
}

export interface MemberOptions {
  name: string;
  kind: MemberKind;
  scope: Scope;
  /** File for all its output. */
  logFile: string;
  command(): { command: string; args: string[]; env: Record<string, string> };
  /** Parses a line. Returns null when it is not the ready line. */
  readReady(line: string): Record<string, unknown> | null;
}

/** Between an end before it was ready and the next try. */
const startAgainMs = 300;

/** Starts a process again and again until one is ready: it can end before, for example while its server is away. */
export async function startUntilReady(
  { name, isClosed }: { name: string; isClosed(): boolean },
  start: () => Promise<MemberProcess | null>,
): Promise<MemberProcess> {
  for (;;) {
    if (isClosed()) throw new Error(`${name} is not to be started any more`);
    const ready = await start();
    if (ready) return ready;
    await delay(startAgainMs);
  }
}

/** The process if it is ready and has not ended. */
export function currentOf(process: MemberProcess | undefined): MemberProcess | null {
  return process?.readyAt && process.endedAt === null ? process : null;
}

/** Child processes that must die with this process, even when a signal ends it. */
const killWithUs = new Set<() => unknown>();
process.once("exit", () => {
  for (const kill of killWithUs) kill();
});

interface Running {
  child: ChildProcess;
  memberProcess: MemberProcess;
  ended: Promise<MemberProcess>;
}

export function createMember(options: MemberOptions): Member {
  const { name, kind, scope } = options;
  const processes: MemberProcess[] = [];
  const log = createWriteStream(options.logFile, { flags: "a" });
  let running: Running | null = null;
  let closed = false;

  const open = (env: Record<string, string>): Running => {
    const { command, args, env: own } = options.command();
    const child = spawn(command, args, { env: { ...own, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const memberProcess: MemberProcess = {
      pid: child.pid ?? 0,
      startedAt: Date.now(),
      readyAt: null,
      endedAt: null,
      signal: null,
      code: null,
      ready: {},
    };
    processes.push(memberProcess);
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    const ended = once(child, "exit").then(([code, signal]) =>
      Object.assign(memberProcess, { code, signal, endedAt: Date.now() }),
    );
    return { child, memberProcess, ended };
  };

  const awaitReady = ({ child, memberProcess, ended }: Running): Promise<boolean> => {
    const ready = new Promise<boolean>((resolve) => {
      for (const input of [child.stdout, child.stderr]) {
        if (!input) continue;
        createInterface({ input }).on("line", (line) => {
          const ready = memberProcess.readyAt === null ? options.readReady(line) : null;
          if (!ready) return;
          Object.assign(memberProcess, { readyAt: Date.now(), ready });
          resolve(true);
        });
      }
    });
    return Promise.race([ready, ended.then(() => false)]);
  };

  const end = async (signal: NodeJS.Signals): Promise<MemberProcess | null> => {
    if (!running) return null;
    const { child, ended } = running;
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return await ended;
  };

  scope.onTestFinished(async () => {
    closed = true;
    await end("SIGKILL");
    log.end();
  });
  killWithUs.add(() => running?.child.kill("SIGKILL"));

  return {
    name,
    kind,
    processes,
    current: () => currentOf(running?.memberProcess),
    start: (env = {}) =>
      startUntilReady({ name, isClosed: () => closed }, async () => {
        running = open(env);
        return (await awaitReady(running)) ? running.memberProcess : null;
      }),
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    freeze: () => void running?.child.kill("SIGSTOP"),
    thaw: () => void running?.child.kill("SIGCONT"),
    ended: async () => (running ? await running.ended : null),
  };
}
