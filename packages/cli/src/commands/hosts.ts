import { type HostOutcome, TroupeError } from "@troupe/core";
import type { Cli } from "../cli.ts";
import { personOf } from "../control.ts";
import { refuseFile } from "../home.ts";
import { joinOwner } from "../join.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { hostTable } from "../render/hosts.ts";
import type { TroupeClient } from "../troupe.ts";

/** `troupe hosts ls`: the processes that run agents, as the one that owns the home has heard of them. */
export async function listHosts(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const rows = await (await ownersClient(cli)).hosts();
  if (flags.json) out.line(jsonLine(rows));
  else for (const line of hostTable(rows, { out, now: cli.now() })) out.line(line);
  return 0;
}

/** `troupe hosts drain`: it takes nothing new, leaves what it has to others, and goes. */
export async function drainHost(cli: Cli, host: string, flags: { json: boolean }): Promise<number> {
  const outcome = await (await ownersClient(cli)).drainHost(host, personOf(cli.env));
  cli.terminal.out.line(flags.json ? jsonLine(outcome) : describe(outcome));
  return 0;
}

function describe({ host, outcome }: HostOutcome): string {
  const name = cleanLine(host);
  if (outcome === "draining") return `${name} drains already; nothing changed`;
  if (outcome === "gone") return `${name} has gone; nothing changed`;
  return `${name} was asked to drain: it takes nothing new, leaves its runs to others, and goes`;
}

/** Hosts are known to whoever runs the home: in one that rests there is nobody to ask. */
async function ownersClient(cli: Cli): Promise<TroupeClient> {
  await refuseFile(cli.home);
  const member = await joinOwner(cli);
  if (member) return member.client;
  throw new TroupeError("UNREACHABLE", `nobody runs the home ${cli.home.path}, so that no host is known`, {
    fix: "troupe up",
  });
}
