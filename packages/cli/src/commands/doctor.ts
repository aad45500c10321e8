import { existsSync } from "node:fs";
import type { DaemonStatus } from "@troupe/core";
import { findOwner, homeFiles, type OwnerInfo } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { checkBus } from "../doctor/bus.ts";
import { type Check, fail, ok, warn } from "../doctor/check.ts";
import { checkDatabase } from "../doctor/database.ts";
import { checkModels } from "../doctor/models.ts";
import { checkGit, checkHome, checkNode, checkPort, checkRipgrep, checkSearch } from "../doctor/system.ts";
import { checkTrust } from "../doctor/trust.ts";
import { toTroupeError } from "../failure.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { type Cell, layout } from "../render/layout.ts";
import type { Output } from "../terminal.ts";

const defaultPort = 4_711;

/** `troupe doctor`: looks at everything that a run needs, and changes nothing. 0 when nothing fails. */
export async function doctor(cli: Cli, flags: { json: boolean }): Promise<number> {
  const checks = await runChecks(cli);
  const healthy = checks.every((check) => check.status !== "fail");
  const { out } = cli.terminal;
  if (flags.json) out.line(jsonLine({ ok: healthy, version: cli.version, home: cli.home.path, checks }));
  else for (const line of render(checks, out)) out.line(line);
  return healthy ? 0 : 1;
}

async function runChecks(cli: Cli): Promise<Check[]> {
  const { home, env } = cli;
  const files = homeFiles(home);
  const versions = cli.composition.storeVersions;
  const owned = await checkOwner(cli);
  return [
    checkNode(process.versions.node),
    await checkHome(home),
    owned.check,
    checkDatabase({
      name: "journal",
      path: files.journal,
      newestVersion: versions.journal,
      repair: `restore it from a backup, or start anew: mv ${home.path} ${home.path}.damaged`,
    }),
    checkDatabase({
      name: "record",
      path: files.record,
      newestVersion: versions.record,
      repair: `rm ${files.record}*`,
    }),
    ...checkFlaws(cli),
    await checkPort(defaultPort, owned.owner?.url ? Number(new URL(owned.owner.url).port) : null),
    await checkBus(cli),
    ...(await checkModels(cli, owned.status)),
    await checkPolicy(cli),
    await checkSandbox(cli, owned.status),
    await checkTrust(cli),
    await checkAgents(cli),
    checkSearch(env),
    await checkGit(),
    await checkRipgrep(),
  ];
}

/** What the record could not take for true. A record that cannot be read at all is told of above. */
function checkFlaws({ composition, home }: Cli): Check[] {
  try {
    const flaws = composition.readFlaws(home);
    if (!flaws || flaws.session === null) return [];
    const forked = `${flaws.forked === 1 ? "1 run has" : `${flaws.forked} runs have`} two entries at one place`;
    const aside = `${flaws.quarantined === 1 ? "1 entry was" : `${flaws.quarantined} entries were`} set aside`;
    return [warn("history", `${forked}, ${aside}`, `troupe sessions show ${flaws.session}`)];
  } catch {
    return [];
  }
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
    if (!owner) return { owner, status: null, check: ok("owner", "nobody owns the home; `troupe up` would") };
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

async function checkPolicy({ composition, home }: Cli): Promise<Check> {
  const { policy } = homeFiles(home);
  try {
    const { warnings } = await composition.readPolicy(home);
    const found = existsSync(policy) ? `${policy} is sound` : `${policy} does not exist: the default one holds`;
    const rules = await composition.readRules(home);
    const detail = `${found}; ${rules.length === 1 ? "1 stored rule" : `${rules.length} stored rules`}`;
    const [warning] = warnings;
    return warning ? warn("policy", `${detail}; ${warning}`, `edit ${policy}`) : ok("policy", detail);
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("policy", message, fix ?? `edit ${policy}`);
  }
}

/** What the daemon found is what holds; where there is none, it is found out now. */
async function checkSandbox({ composition, home }: Cli, status: DaemonStatus | null): Promise<Check> {
  try {
    const { kind, contains, detail, fix } = status?.sandbox ?? (await composition.readSandbox(home));
    const found = `${kind}: ${detail}`;
    return contains && fix === null
      ? ok("sandbox", found)
      : warn("sandbox", found, fix ?? `edit ${homeFiles(home).policy}`);
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("sandbox", message, fix ?? "edit policy.yaml");
  }
}

async function checkAgents(cli: Cli): Promise<Check> {
  try {
    const registry = await cli.composition.loadCompany({ home: cli.home, workspace: cli.cwd, env: cli.env });
    const detail = `${registry.agents.length} usable, ${registry.problems.length} problems`;
    const worst = registry.problems.find((problem) => problem.severity === "error") ?? registry.problems[0];
    if (!worst) return ok("agents", detail);
    return warn("agents", `${detail}: ${worst.message}`, `troupe agents validate ${worst.path}`);
  } catch (error) {
    return fail("agents", toTroupeError(error).message, "troupe agents ls");
  }
}

function render(checks: readonly Check[], { colours, width }: Output): string[] {
  const looks = {
    ok: { glyph: "✓", paint: colours.green },
    warn: { glyph: "!", paint: colours.yellow },
    fail: { glyph: "✗", paint: colours.red },
  };
  const rows = checks.map((check): Cell[] => {
    const { glyph, paint } = looks[check.status];
    return [{ text: `${glyph} ${check.status}`, paint }, { text: check.name }, { text: cleanLine(check.detail) }];
  });
  return layout([{}, {}, { flexible: true }], rows, width).flatMap((line, i) => {
    const fix = checks[i]?.fix;
    return fix ? [line, `        ${colours.dim("fix:")} ${cleanLine(fix)}`] : [line];
  });
}
