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
import { aborted } from "../terminal/interrupts.ts";
import { mayOpenPage } from "../terminal/open-page.ts";

export interface UpFlags {
  host: string;
  port: number;
  open: boolean;
  json: boolean;
  nats: NatsFlags;
  work: ServeOptions;
}

/** `troupe up`: the daemon, in the foreground, until a signal stops it. Returns the exit code. */
export async function up(cli: Cli, flags: UpFlags): Promise<number> {
  const { warnings } = await cli.composition.readConfig({
    home: cli.home,
    env: cli.env,
    cwd: cli.cwd,
    workspace: null,
  });
  for (const warning of warnings) cli.terminal.err.line(`configuration: ${cleanLine(warning)}`);
  const home = await acquireHome(cli.home);
  const cleanup = createCleanup();
  cleanup.add(() => home.release());
  try {
    const running = await startDaemon(cli, home, flags, cleanup);
    cli.interrupts.signal.throwIfAborted();
    await sayReady(cli, running, flags);
    await aborted(cli.interrupts.signal);
    running.beginClosing();
    await sayWhatIsLeft(cli, running);
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
  const { host, port, nats, work } = flags;
  const notice = (text: string): void => cli.terminal.err.line(cleanLine(text));
  const options = { home, kind: "daemon", host, port, nats, work, notice, env: cli.env, logger: log.logger } as const;
  const running = await cli.composition.start(options);
  cleanup.add(() => running.close());
  await home.announce(ownerInfo(running, { kind: "daemon", version: cli.version, startedAt }));
  return running;
}

/** Everything that the user may want to know goes to stderr; stdout gets the one ready line. */
async function sayReady(cli: Cli, running: RunningTroupe, flags: UpFlags): Promise<void> {
  const { out, err } = cli.terminal;
  const { url, token } = running;
  const { bus, store, provider, model = null, agents, pid, sandbox } = await running.service.status();
  const dashboard = `${url}/#token=${token}`;
  const port = Number(new URL(url).port || 80);
  for (const warning of running.warnings) err.line(`${err.colours.yellow("nats:")} ${cleanLine(warning)}`);
  if (running.ownServer) sayOwnServer(cli, running.ownServer);
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
    err.line(err.colours.dim("       Ctrl-C stops it; sessions that are not done go on at the next start"));
  const wanted = flags.open && mayOpenPage({ env: cli.env, isTerminal: out.isTerminal });
  if (wanted && !(await cli.openPage(dashboard))) err.line("no browser could be opened: open the link above");
}

/** How others find the server that was started here. Its password stays in a file. */
function sayOwnServer({ terminal: { err } }: Cli, { url, contextFile }: OwnServer): void {
  err.line(`nats-server at ${url}, for this machine; its credentials are in ${contextFile}`);
  err.line(`  ${err.colours.dim("a worker:")} troupe worker --context ${contextFile} --agents coder`);
}

async function sayWhatIsLeft(cli: Cli, running: RunningTroupe): Promise<void> {
  const { err } = cli.terminal;
  // The terminal has written ^C.
  if (err.isTerminal) err.line("");
  const active = (await running.service.record.sessions({ limit: 500 })).filter((row) => !isSettled(row.status));
  err.line(active.length === 0 ? "stopping" : `stopping: waiting for ${describe(active)} to come to rest`);
  if (active.length > 0) err.line("what is not done goes on at the next `troupe up`; Ctrl-C again leaves at once");
}

function describe(active: readonly SessionRow[]): string {
  const steps = active.reduce((sum, row) => sum + row.runsActive, 0);
  const sessions = active.length === 1 ? "1 session" : `${active.length} sessions`;
  return `${sessions} (${steps === 1 ? "1 run" : `${steps} runs`})`;
}
