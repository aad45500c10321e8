import type { SessionRow } from "@troupe/core";
import {
  acquireHome,
  type Cleanup,
  createCleanup,
  type NatsFlags,
  type OwnedHome,
  type OwnServer,
  type ServeOptions,
} from "troupe/internal";
import type { Cli, RunningTroupe } from "../cli.ts";
import { openLogger } from "../logger.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { sandboxNote } from "../render/format.ts";
import { isSettled } from "../session/client.ts";
import { ownerInfo } from "../session/join-or-start.ts";
import { stopOlderDaemon } from "../session/other-version.ts";
import { aborted } from "../terminal/interrupts.ts";
import { mayOpenPage } from "../terminal/open-page.ts";

export interface UpFlags {
  host: string;
  port: number;
  open: boolean;
  json: boolean;
  /** Whether a home may be the workspace of a session. */
  allowHome?: boolean;
  nats: NatsFlags;
  work: ServeOptions;
}

/** `troupe up`: runs the daemon in the foreground until a signal stops it. Returns the exit code. */
export async function up(cli: Cli, flags: UpFlags): Promise<number> {
  const { warnings } = await cli.composition.readConfig({
    home: cli.home,
    env: cli.env,
    cwd: cli.cwd,
    workspace: null,
  });
  for (const warning of warnings) cli.terminal.err.line(`configuration: ${cleanLine(warning)}`);
  await stopOlderDaemon(cli);
  const home = await acquireHome(cli.home);
  const cleanup = createCleanup();
  cleanup.add(() => home.release());
  try {
    const running = await startDaemon(cli, home, flags, cleanup);
    cli.interrupts.signal.throwIfAborted();
    await printReady(cli, running, flags);
    await aborted(cli.interrupts.signal);
    running.beginClosing();
    await printUnfinished(cli, running);
  } finally {
    await cleanup.run();
  }
  if (!flags.json) cli.terminal.err.line("stopped");
  return 0;
}

async function startDaemon(cli: Cli, home: OwnedHome, flags: UpFlags, cleanup: Cleanup): Promise<RunningTroupe> {
  const startedAt = new Date(cli.now());
  const log = openLogger({ home, env: cli.env, now: startedAt });
  cleanup.add(() => log.close());
  const { host, port, nats, work, allowHome = false } = flags;
  const notice = (text: string): void => cli.terminal.err.line(cleanLine(text));
  const options = {
    home,
    kind: "daemon",
    host,
    port,
    nats,
    work,
    allowHome,
    notice,
    env: cli.env,
    logger: log.logger,
  } as const;
  const running = await cli.composition.start(options);
  cleanup.add(() => running.close());
  await home.announce(ownerInfo(running, { kind: "daemon", version: cli.version, startedAt }));
  return running;
}

/** Prints facts and warnings on stderr, and the ready line on stdout. */
async function printReady(cli: Cli, running: RunningTroupe, flags: UpFlags): Promise<void> {
  const { out, err } = cli.terminal;
  const { url, token } = running;
  const { bus, store, provider, model = null, agents, pid, sandbox } = await running.service.status();
  const dashboard = `${url}/#token=${token}`;
  const port = Number(new URL(url).port || 80);
  for (const warning of running.warnings) err.line(`${err.colours.yellow("nats:")} ${cleanLine(warning)}`);
  if (running.ownServer) printOwnServer(cli, running.ownServer);
  if (flags.port !== 0 && port !== flags.port) err.line(`port ${flags.port} is taken; using ${port}`);
  if (flags.json) {
    out.line(jsonLine({ event: "ready", url, token, bus, store, provider, model, agents, pid }));
    return;
  }
  err.line(err.colours.bold(`troupe ${cli.version}`));
  for (const [name, fact] of Object.entries({ provider, ...(model === null ? {} : { model }), bus, store, agents })) {
    err.line(`  ${err.colours.dim(`${name}:`)} ${cleanLine(String(fact))}`);
  }
  if (sandbox?.contains === false) {
    err.line(`  ${err.colours.yellow("sandbox:")} ${sandboxNote(sandbox)}`);
  }
  out.line(`${out.colours.green("ready")}  ${out.colours.cyan(dashboard)}`);
  if (err.isTerminal)
    err.line(err.colours.dim("       Ctrl-C stops it; unfinished sessions continue at the next start"));
  const wanted = flags.open && mayOpenPage({ env: cli.env, isTerminal: out.isTerminal });
  if (wanted && !(await cli.openPage(dashboard))) err.line("no browser could be started: open the link above");
}

/** Says how workers connect to the started server. Its password stays in a file. */
function printOwnServer({ terminal: { err } }: Cli, { url, contextFile }: OwnServer): void {
  err.line(`nats-server at ${url}, for this machine only; its credentials are in ${contextFile}`);
  err.line(`  ${err.colours.dim("a worker:")} troupe worker --context ${contextFile} --agents coder`);
}

async function printUnfinished(cli: Cli, running: RunningTroupe): Promise<void> {
  const { err } = cli.terminal;
  // The terminal has printed ^C.
  if (err.isTerminal) err.line("");
  const active = (await running.service.record.sessions({ limit: 500 })).filter((row) => !isSettled(row.status));
  err.line(active.length === 0 ? "stopping" : `stopping: waiting for ${describe(active)} to stop`);
  if (active.length > 0)
    err.line("unfinished sessions continue at the next `troupe up`; press Ctrl-C again to exit at once");
}

function describe(active: readonly SessionRow[]): string {
  const steps = active.reduce((sum, row) => sum + row.runsActive, 0);
  const sessions = active.length === 1 ? "1 session" : `${active.length} sessions`;
  return `${sessions} (${steps === 1 ? "1 run" : `${steps} runs`})`;
}
