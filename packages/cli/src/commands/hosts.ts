import { type HostRow, TroupeError, type TroupeService } from "@troupe/core";
import type { HostOutcome } from "@troupe/core/internal";
import { checkIsFolder, type NatsFlags, namesServer } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { formatDuration } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { userName } from "../session/control.ts";
import { joinOwner } from "../session/join-or-start.ts";
import type { Colours, Output } from "../terminal/terminal.ts";

export interface HostFlags {
  json: boolean;
  nats: NatsFlags;
}

/** `troupe hosts ls`: lists the processes that run agents. */
export async function listHosts(cli: Cli, { json, nats }: HostFlags): Promise<number> {
  const { out, err } = cli.terminal;
  const { rows, where } = await withHosts(cli, nats, async (hosts, where) => ({ rows: await hosts.hosts(), where }));
  if (json) out.line(jsonLine(rows));
  else if (rows.length === 0) err.line(`no host answers ${where}`);
  else for (const line of hostTable(rows, { out, now: cli.now() })) out.line(line);
  return 0;
}

/** `troupe hosts drain`: asks a host to stop. It takes no new runs, and other hosts continue its runs. */
export async function drainHost(cli: Cli, host: string, { json, nats }: HostFlags): Promise<number> {
  const outcome = await withHosts(cli, nats, (hosts) => hosts.drainHost(host, userName(cli.env)));
  cli.terminal.out.line(json ? jsonLine(outcome) : describe(outcome));
  return 0;
}

function describe({ host, outcome }: HostOutcome): string {
  const name = cleanLine(host);
  if (outcome === "draining") return `${name} is already draining; nothing changed`;
  if (outcome === "gone") return `${name} is gone; nothing changed`;
  return `asked ${name} to drain: it takes no new runs, gives its runs to other hosts and stops`;
}

type Hosts = Pick<TroupeService, "hosts" | "drainHost">;

/**
 * Uses the owner of the home, which also remembers hosts that are gone. Without an owner, or if flags name a server, the
 * hosts on that server are queried directly.
 */
async function withHosts<T>(cli: Cli, nats: NatsFlags, use: (hosts: Hosts, where: string) => Promise<T>): Promise<T> {
  const { home, env, cwd } = cli;
  if (!namesServer(nats)) {
    await checkIsFolder(home);
    const connection = await joinOwner(cli);
    if (connection) return use(connection.client, `to the daemon at ${connection.owner.url}`);
  }
  const watch = await cli.composition.watchHosts({ home, nats, env, cwd });
  if (!watch) {
    throw new TroupeError("UNREACHABLE", `no daemon runs the home ${home.path} and no NATS server is configured`, {
      fix: "troupe up",
    });
  }
  try {
    return await use(watch, `on ${watch.server}`);
  } finally {
    await watch.close();
  }
}

const styles = {
  alive: { glyph: "●", paint: (colours: Colours) => colours.green },
  draining: { glyph: "◌", paint: (colours: Colours) => colours.yellow },
  gone: { glyph: "✗", paint: (colours: Colours) => colours.dim },
} as const satisfies Record<HostRow["status"], unknown>;

/** A table with one line for each host. */
export function hostTable(rows: readonly HostRow[], { out, now }: { out: Output; now: number }): string[] {
  const { colours, width } = out;
  const heads = ["HOST", "ROLE", "STATUS", "AGENTS", "BUSY", "RUNS", "PLACE", "VERSION", "HEARD"];
  const head = heads.map((text): Cell => ({ text, paint: colours.dim }));
  const body = rows.map((row): Cell[] => {
    const { glyph, paint } = styles[row.status];
    return [
      { text: cleanLine(row.host), paint: colours.bold },
      { text: row.role },
      { text: `${glyph} ${row.status}`, paint: paint(colours) },
      { text: cleanLine(row.agents.map(({ id }) => id).join(", ")) || "none" },
      // Other hosts have the runs of a host that is gone.
      { text: row.status === "gone" ? "–" : `${row.busy}/${row.capacity}` },
      { text: row.status === "gone" ? "–" : String(row.runs) },
      { text: cleanLine(row.place) },
      { text: cleanLine(row.version) },
      { text: `${formatDuration(now - Date.parse(row.lastHeartbeatAt))} ago`, paint: colours.dim },
    ];
  });
  const right = { align: "right" } as const;
  return layout([{}, {}, {}, { flexible: true }, right, right, {}, {}, right], [head, ...body], width);
}
