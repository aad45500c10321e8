import type { ConnectionStatus, ConnectionStore, StoredConnection } from "@troupe/connectors";
import { exitCodes, TroupeError } from "@troupe/core";
import { didYouMean } from "@troupe/core/internal";
import { chooseConnection, type OfficeDomain, officeDomains, openAccount, portOf } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { connectionFailure } from "../render/connection-failure.ts";
import { type Cell, layout } from "../render/layout.ts";
import type { Output } from "../terminal/terminal.ts";

/** A connected account, in the words of the user. It never has a secret. */
interface ConnectionRow {
  id: string;
  kind: StoredConnection["kind"];
  account: string;
  domains: OfficeDomain[];
  /** Domains whose requests it answers. */
  usedFor: OfficeDomain[];
  createdAt: string;
}

/** `troupe connections ls`: the connected accounts, and the domains that use each. It calls no server. */
export async function listConnections(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const rows = await readRows(cli);
  if (flags.json) out.line(jsonLine(rows));
  else if (rows.length === 0)
    err.line("no account is connected: the local office is used. Connect one: troupe connect --help");
  else for (const line of tableOf(rows, out)) out.line(line);
  return 0;
}

/** `troupe connections test`: asks each service of one account, or of all, whether the access is valid. */
export async function testConnections(cli: Cli, given: string | null, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const store = await storeOf(cli);
  const tested = given === null ? await store.list() : [await findConnection(store, given)];
  const findings: AccessTest[] = [];
  for (const connection of tested) findings.push(...(await testOne(connection, store)));
  if (flags.json) out.line(jsonLine({ ok: findings.every(isGood), findings }));
  else if (tested.length === 0) err.line("no account is connected");
  else for (const finding of findings) for (const line of testLines(finding, out)) out.line(line);
  return exitCodeOf(findings);
}

/** `troupe connections rm`: forgets an account and its secrets. Google is asked to revoke the access. */
export async function removeConnection(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const store = await storeOf(cli);
  const { id, kind } = await findConnection(store, given);
  const { disconnectGoogle } = await import("@troupe/connectors");
  // A service that cannot be reached must not keep the tokens in this home.
  const gone =
    kind === "google" ? await disconnectGoogle({ store, id }) : { isRemoved: await store.remove(id), isRevoked: null };
  if (flags.json) out.line(jsonLine({ id, removed: gone.isRemoved, revoked: gone.isRevoked }));
  else out.line(`removed ${cleanLine(id)} and its secrets from this home`);
  if (!flags.json && gone.isRevoked === false) {
    err.line("Google did not confirm that the access ended; check https://myaccount.google.com/permissions");
  }
  return 0;
}

async function storeOf({ home }: Cli): Promise<ConnectionStore> {
  return (await import("@troupe/connectors")).openConnectionStore(home.path);
}

async function findConnection(store: ConnectionStore, given: string): Promise<StoredConnection> {
  const all = await store.list();
  const found = all.find(({ id }) => id === given) ?? onlyOf(all.filter(({ account }) => account === given));
  if (found) return found;
  const ids = all.map(({ id }) => id);
  throw new TroupeError("USAGE", `no connected account is called ${JSON.stringify(given)}`, {
    fix: didYouMean(given, ids) ?? "troupe connections ls",
  });
}

function onlyOf<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}

async function readRows(cli: Cli): Promise<ConnectionRow[]> {
  const { home, env, cwd } = cli;
  const stored = await (await storeOf(cli)).list();
  const { office } = await cli.composition.readConfig({ home, env, cwd, workspace: null });
  // A domain that cannot be decided is used by no account; `troupe doctor` says why.
  const used = await Promise.all(
    officeDomains.map(
      async (domain) => [domain, await chooseConnection(domain, office, stored).catch(() => null)] as const,
    ),
  );
  return stored.map(({ id, kind, account, domains, createdAt }) => ({
    ...{ id, kind, account, createdAt },
    domains: officeDomains.filter((domain) => domains.includes(portOf[domain])),
    usedFor: used.filter(([, chosen]) => chosen?.id === id).map(([domain]) => domain),
  }));
}

function tableOf(rows: readonly ConnectionRow[], { colours, width }: Output): string[] {
  const head = ["CONNECTION", "ACCOUNT", "DOMAINS", "USED FOR"].map((text): Cell => ({ text, paint: colours.dim }));
  const body = rows.map(({ id, account, domains, usedFor }): Cell[] => [
    { text: cleanLine(id), paint: colours.bold },
    { text: cleanLine(account) },
    { text: domains.join(", ") },
    { text: usedFor.join(", ") || "–" },
  ]);
  return layout([{}, { flexible: true }, {}, {}], [head, ...body], width).map((line) => line.trimEnd());
}

/** The result of one test: a domain of an account. */
interface AccessTest {
  id: string;
  domain: OfficeDomain;
  status: ConnectionStatus | null;
  error: { code: TroupeError["code"]; message: string; fix: string | null } | null;
}

async function testOne(connection: StoredConnection, store: ConnectionStore): Promise<AccessTest[]> {
  const { id } = connection;
  const domains = officeDomains.filter((domain) => connection.domains.includes(portOf[domain]));
  return await Promise.all(
    domains.map(async (domain): Promise<AccessTest> => {
      try {
        const connector = (await openAccount(connection, store))[portOf[domain]];
        if (!connector)
          throw new TroupeError("FORBIDDEN", `${id} has no right to use ${domain}`, { fix: "connect it again" });
        let status = await connector.status();
        // Most access tokens live for an hour. Only a refresh tells whether the account is still connected.
        if (status.auth === "expired" && connector.refresh) {
          await connector.refresh();
          status = await connector.status();
        }
        return { id, domain, status, error: null };
      } catch (thrown) {
        return { id, domain, status: null, error: errorOf(connectionFailure(thrown)) };
      }
    }),
  );
}

function errorOf(thrown: unknown): AccessTest["error"] {
  if (TroupeError.is(thrown)) return { code: thrown.code, message: thrown.message, fix: thrown.fix };
  return { code: "INTERNAL", message: thrown instanceof Error ? thrown.message : String(thrown), fix: "troupe doctor" };
}

function isGood({ status }: AccessTest): boolean {
  return status?.auth === "valid";
}

function exitCodeOf(findings: readonly AccessTest[]): number {
  const bad = findings.find((finding) => !isGood(finding));
  if (!bad) return 0;
  return exitCodes[bad.error?.code ?? "UNAUTHORIZED"];
}

function testLines({ id, domain, status, error }: AccessTest, { colours }: Output): string[] {
  const name = `${cleanLine(id)}  ${domain}`;
  if (error) {
    const fix = error.fix ? [`    ${colours.dim("fix:")} ${cleanLine(error.fix)}`] : [];
    return [`${colours.red("✗")} ${name}  ${cleanLine(error.message)}`, ...fix];
  }
  if (status?.auth !== "valid") {
    return [
      `${colours.red("✗")} ${name}  the access is ${status?.auth}`,
      `    ${colours.dim("fix:")} connect the account again`,
    ];
  }
  const limit = status.rateLimit ? `, ${status.rateLimit.remaining} calls left` : "";
  const rights = status.canWrite ? "reads and changes" : "reads only";
  return [`${colours.green("✓")} ${name}  ${cleanLine(status.account)}: ${rights}${limit}`];
}
