import { existsSync } from "node:fs";
import type { DaemonStatus } from "@troupe/core";
import { findOwner, type Home, homeFiles, type OwnerInfo } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { type Check, fail, ok, warn } from "../doctor/check.ts";
import { checkAgents, checkModels, checkPolicy, checkSandbox, checkTrust } from "../doctor/configuration.ts";
import { checkOffice } from "../doctor/office.ts";
import type { Repair } from "../doctor/repair.ts";
import { repairLeftovers, repairPermissions } from "../doctor/repair-home.ts";
import { repairRecord } from "../doctor/repair-record.ts";
import { checkDatabase, checkIntegrity } from "../doctor/stores.ts";
import { checkBus, checkGit, checkHome, checkNode, checkPort, checkRipgrep, checkSearch } from "../doctor/system.ts";
import { checkWebhooks } from "../doctor/webhooks.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { toTroupeError } from "../render/failure.ts";
import { type Cell, layout } from "../render/layout.ts";
import type { Output } from "../terminal/terminal.ts";

const defaultPort = 4_711;

/**
 * `troupe doctor`: checks everything that a run needs. Changes nothing, except with `--fix`, which makes the safe repairs
 * before the checks. Returns 0 if no check fails.
 */
export async function doctor(cli: Cli, flags: { json: boolean; fix?: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const repairs = flags.fix ? await repairHome(cli.home) : null;
  if (repairs && !flags.json) for (const line of renderRepairs(repairs, out)) out.line(line);
  const checks = await runChecks(cli);
  const healthy = checks.every((check) => check.status !== "fail");
  const made = repairs === null ? {} : { repairs };
  if (flags.json) out.line(jsonLine({ ok: healthy, version: cli.version, home: cli.home.path, checks, ...made }));
  else for (const line of render(checks, out)) out.line(line);
  return healthy ? 0 : 1;
}

/** One after the other: the record is rebuilt in a home that is in order. */
async function repairHome(home: Home): Promise<Repair[]> {
  const ofHome = await repairPermissions(home);
  if (!existsSync(home.path)) return ofHome;
  return [...ofHome, ...(await repairLeftovers(home)), ...(await repairRecord(home))];
}

function renderRepairs(repairs: readonly Repair[], { colours }: Output): string[] {
  if (repairs.length === 0) return ["no repair is needed", ""];
  const paints = { fixed: colours.green, failed: colours.red, skipped: colours.yellow };
  const lines = repairs.flatMap(({ name, status, before, after, fix }) => {
    const line = `${paints[status](status)}  ${cleanLine(`${name}: ${before} → ${after}`)}`;
    return fix === null ? [line] : [line, `        ${colours.dim("fix:")} ${cleanLine(fix)}`];
  });
  return [...lines, ""];
}

async function runChecks(cli: Cli): Promise<Check[]> {
  const { home, env } = cli;
  const files = homeFiles(home);
  const versions = await cli.composition.storeVersions();
  const owned = await checkOwner(cli);
  // Its own check reports a policy that cannot be read.
  const policy = await cli.composition.readPolicy(home).catch(() => null);
  return [
    checkNode(process.versions.node),
    await checkHome(home, policy?.freeMb ?? null),
    owned.check,
    checkDatabase({
      name: "journal",
      path: files.journal,
      newestVersion: versions.journal,
      repair: `restore a backup: troupe restore FILE   # or start anew: mv ${home.path} ${home.path}.damaged`,
    }),
    checkDatabase({
      name: "record",
      path: files.record,
      newestVersion: versions.record,
      repair: "troupe record rebuild",
    }),
    ...(await checkIntegrity(cli)),
    ...(await checkWebhooks(cli)),
    await checkPort(defaultPort, owned.owner?.url ? Number(new URL(owned.owner.url).port) : null),
    await checkBus(cli),
    ...(await checkModels(cli, owned.status)),
    await checkPolicy(cli),
    await checkSandbox(cli, owned.status),
    await checkTrust(cli),
    await checkAgents(cli),
    ...(await checkOffice(cli)),
    checkSearch(env),
    await checkGit(),
    await checkRipgrep(),
  ];
}

interface Owned {
  owner: OwnerInfo | null;
  status: DaemonStatus | null;
  check: Check;
}

async function checkOwner(cli: Cli): Promise<Owned> {
  let owner: OwnerInfo | null = null;
  try {
    owner = await findOwner(cli.home, { patienceMs: 1_000 });
    if (!owner) return { owner, status: null, check: ok("owner", "no process owns the home; start one: troupe up") };
    const { url } = owner;
    if (url === null) {
      return { owner, status: null, check: ok("owner", `a program, pid ${owner.pid}, without an HTTP API`) };
    }
    const status = await cli.composition.connect({ ...owner, url }).status();
    const detail = `${owner.kind}, pid ${owner.pid}, ${owner.url}, version ${owner.version}`;
    if (owner.version === cli.version) return { owner, status, check: ok("owner", detail) };
    const check = warn("owner", `${detail}; this is ${cli.version}`, `kill -INT ${owner.pid}`);
    return { owner, status, check };
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return { owner, status: null, check: fail("owner", message, owner ? `kill ${owner.pid}` : (fix ?? "troupe up")) };
  }
}

function render(checks: readonly Check[], { colours, width }: Output): string[] {
  const styles = {
    ok: { glyph: "✓", paint: colours.green },
    warn: { glyph: "!", paint: colours.yellow },
    fail: { glyph: "✗", paint: colours.red },
  };
  const rows = checks.map((check): Cell[] => {
    const { glyph, paint } = styles[check.status];
    return [{ text: `${glyph} ${check.status}`, paint }, { text: check.name }, { text: cleanLine(check.detail) }];
  });
  return layout([{}, {}, { flexible: true }], rows, width).flatMap((line, i) => {
    const fix = checks[i]?.fix;
    return fix ? [line, `        ${colours.dim("fix:")} ${cleanLine(fix)}`] : [line];
  });
}
