import { TroupeError, type TroupeService } from "@troupe/core";
import type { HostOutcome } from "@troupe/core/internal";
import { isSaid, type NatsFlags, refuseFile } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { personOf } from "../control.ts";
import { joinOwner } from "../join.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { hostTable } from "../render/hosts.ts";

export interface HostFlags {
  json: boolean;
  nats: NatsFlags;
}

/** `troupe hosts ls`: the processes that run agents, as the one that owns the home has heard of them, or as they say. */
export async function listHosts(cli: Cli, { json, nats }: HostFlags): Promise<number> {
  const { out, err } = cli.terminal;
  const { rows, where } = await withHosts(cli, nats, async (hosts, where) => ({ rows: await hosts.hosts(), where }));
  if (json) out.line(jsonLine(rows));
  else if (rows.length === 0) err.line(`no host answers ${where}`);
  else for (const line of hostTable(rows, { out, now: cli.now() })) out.line(line);
  return 0;
}

/** `troupe hosts drain`: it takes nothing new, leaves what it has to others, and goes. */
export async function drainHost(cli: Cli, host: string, { json, nats }: HostFlags): Promise<number> {
  const outcome = await withHosts(cli, nats, (hosts) => hosts.drainHost(host, personOf(cli.env)));
  cli.terminal.out.line(json ? jsonLine(outcome) : describe(outcome));
  return 0;
}

function describe({ host, outcome }: HostOutcome): string {
  const name = cleanLine(host);
  if (outcome === "draining") return `${name} drains already; nothing changed`;
  if (outcome === "gone") return `${name} has gone; nothing changed`;
  return `${name} was asked to drain: it takes nothing new, leaves its runs to others, and goes`;
}

type Hosts = Pick<TroupeService, "hosts" | "drainHost">;

/**
 * Through whoever runs the home, who also knows who has gone; where nobody does, or a server is named, the hosts on that
 * server are asked themselves.
 */
async function withHosts<T>(cli: Cli, nats: NatsFlags, use: (hosts: Hosts, where: string) => Promise<T>): Promise<T> {
  const { home, env, cwd } = cli;
  if (!isSaid(nats)) {
    await refuseFile(home);
    const member = await joinOwner(cli);
    if (member) return use(member.client, `to the daemon at ${member.owner.url}`);
  }
  const watch = await cli.composition.watchHosts({ home, nats, env, cwd });
  if (!watch) {
    throw new TroupeError("UNREACHABLE", `nobody runs the home ${home.path}, so that no host is known`, {
      fix: "troupe up",
    });
  }
  try {
    return await use(watch, `on ${watch.server}`);
  } finally {
    await watch.close();
  }
}
