import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import {
  findOwner,
  type Home,
  type NatsFlags,
  type OwnerInfo,
  type OwnerKind,
  openWithCleanup,
  tryAcquireHome,
} from "troupe/internal";
import type { Cli, RunningTroupe } from "../cli.ts";
import { isOutOfReach, type TroupeClient } from "./client.ts";
import { otherVersion } from "./other-version.ts";

/** A connection to the troupe that owns the home, in this process or another one. */
export interface HomeConnection {
  client: TroupeClient;
  owner: OwnerInfo;
  /** The troupe in this process; null if another process owns the home. */
  local: RunningTroupe | null;
  /** Closes the troupe in this process and releases the home. */
  close(): Promise<void>;
}

const patienceMs = 15_000;

/** Connects to the owner of the home; null if there is none. */
export async function joinOwner(cli: Cli): Promise<HomeConnection | null> {
  const { signal } = cli.interrupts;
  const givenUpAt = performance.now() + patienceMs;
  for (;;) {
    const owner = await findOwner(cli.home, { patienceMs, signal });
    if (!owner) return null;
    const { url } = owner;
    if (url === null) throw ownedByProgram(cli.home, owner);
    const client = cli.composition.connect({ ...owner, url });
    try {
      await client.status();
      return { client, owner, local: null, close: async () => {} };
    } catch (error) {
      signal.throwIfAborted();
      if (!isOutOfReach(error)) throw owner.version === cli.version ? error : otherVersion(cli, owner, error);
      // The owner is closing, or the file is from an earlier owner. Both states end soon.
      if (performance.now() >= givenUpAt) throw ownerUnreachable(owner, error);
      await delay(100, undefined, { signal });
    }
  }
}

/** Connects to the owner of the home, or starts a troupe in this process. */
export async function joinOrStart(cli: Cli, nats: NatsFlags): Promise<HomeConnection> {
  for (;;) {
    const connection = (await joinOwner(cli)) ?? (await start(cli, nats));
    if (connection) return connection;
    cli.interrupts.signal.throwIfAborted();
  }
}

/** Null if another process became the owner in the meantime. */
async function start(cli: Cli, nats: NatsFlags): Promise<HomeConnection | null> {
  const home = await tryAcquireHome(cli.home);
  if (!home) return null;
  return await openWithCleanup(async (cleanup) => {
    cleanup.add(() => home.release());
    const startedAt = new Date(cli.now());
    // Only a process that owns the home writes its log: a command beside a daemon does not load pino.
    const { openLogger } = await import("../logger.ts");
    const log = openLogger({ home, env: cli.env, now: startedAt });
    cleanup.add(() => log.close());
    const where = { home, host: "127.0.0.1", port: 0, env: cli.env, logger: log.logger };
    const local = await cli.composition.start({ ...where, kind: "run", nats, work: { serve: "all", capacity: 64 } });
    cleanup.add(() => local.close());
    const owner = ownerInfo(local, { kind: "run", version: cli.version, startedAt });
    await home.announce(owner);
    return { client: await cli.composition.createLocalClient(local), owner, local, close: cleanup.run };
  });
}

/** The owner file of this process, for other commands. */
export function ownerInfo(
  { url, token }: RunningTroupe,
  facts: { kind: OwnerKind; version: string; startedAt: Date },
): OwnerInfo {
  const { kind, version, startedAt } = facts;
  return { kind, pid: process.pid, url, token, version, startedAt: startedAt.toISOString() };
}

function ownedByProgram(home: Home, { pid }: OwnerInfo): TroupeError {
  return new TroupeError(
    "HOME_OWNED",
    `the program with pid ${pid} owns the home ${home.path} and serves no HTTP API`,
    {
      fix: "start it with createTroupe({ http: true }), or use another home: export TROUPE_HOME=<folder>",
    },
  );
}

function ownerUnreachable(owner: OwnerInfo, cause: unknown): TroupeError {
  const who = `${owner.kind === "daemon" ? "the daemon" : "the `troupe run`"} with pid ${owner.pid}`;
  return new TroupeError("UNREACHABLE", `${who} owns the home but does not answer at ${owner.url}`, {
    cause,
    fix: `kill ${owner.pid}`,
  });
}
