import { writeFile } from "node:fs/promises";
import { type InProcessCommand, startInProcess } from "../../harness/cli-in-process.ts";
import { currentOf, type Member, type MemberOptions, type MemberProcess, startUntilReady } from "./member.ts";

export interface InProcessMemberOptions extends Omit<MemberOptions, "command"> {
  home: string;
  args: string[];
  env: Record<string, string>;
}

/**
 * A daemon or worker in this process, for a scenario that never kills it: the start of a process costs more than most
 * sessions. Its sockets are as real as those of a process.
 */
export function createInProcessMember(options: InProcessMemberOptions): Member {
  const { name, kind, scope, home, args, logFile } = options;
  const processes: MemberProcess[] = [];
  let running: { command: InProcessCommand; memberProcess: MemberProcess } | null = null;
  let closed = false;

  const open = (env: Record<string, string>) => {
    const startedAt = Date.now();
    const command = startInProcess(args, { home, env: { ...options.env, ...env } });
    const life = { startedAt, readyAt: null, endedAt: null, signal: null, code: null, ready: {} };
    const memberProcess: MemberProcess = { pid: process.pid, ...life };
    processes.push(memberProcess);
    void command.ended.then(({ code }) => Object.assign(memberProcess, { code, endedAt: Date.now() }));
    return { command, memberProcess };
  };
  const stop = async (): Promise<MemberProcess | null> => {
    if (!running) return null;
    const { command, memberProcess } = running;
    if (!command.isOver()) command.send("SIGTERM");
    const { stdout, stderr } = await command.ended;
    await writeFile(logFile, stdout + stderr);
    return memberProcess;
  };
  const refuse = (action: string) => (): never => {
    throw new Error(`${name} has no process of its own, so a scenario cannot ${action} it`);
  };

  scope.onTestFinished(async () => {
    closed = true;
    await stop();
  });

  return {
    name,
    kind,
    processes,
    current: () => currentOf(running?.memberProcess),
    start: (env = {}) =>
      startUntilReady({ name, isClosed: () => closed }, async () => {
        running = open(env);
        const { command, memberProcess } = running;
        const line = await command.waitForOutput(/^\{.*\}$/m).catch(() => null);
        const ready = line && options.readReady(line[0]);
        return ready ? Object.assign(memberProcess, { readyAt: Date.now(), ready }) : null;
      }),
    kill: refuse("kill"),
    stop,
    freeze: refuse("freeze"),
    thaw: refuse("thaw"),
    ended: async () => {
      await running?.command.ended;
      return running?.memberProcess ?? null;
    },
  };
}
