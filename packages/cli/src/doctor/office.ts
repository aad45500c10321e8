import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join } from "node:path";
import type { StoredConnection } from "@troupe/connectors";
import { chooseConnection, hasConnections, hasLocalOffice, homeFiles, officeDomains } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { connectionFailure } from "../render/connection-failure.ts";
import { toTroupeError } from "../render/failure.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** Checks the local office and the connected accounts. It calls no service: `troupe connections test` does. */
export async function checkOffice(cli: Cli): Promise<Check[]> {
  return [await checkLocalOffice(cli), ...(hasConnections(cli.home) ? await checkConnections(cli) : [])];
}

async function checkLocalOffice({ home }: Cli): Promise<Check> {
  const { office } = homeFiles(home);
  if (!hasLocalOffice(home)) return ok("office", "no local office; troupe office seed makes one");
  try {
    await access(office, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok("office", `${office} is writable`);
  } catch {
    return fail("office", `${office} is not writable: no mail can be stored there`, `chmod u+rwx ${office}`);
  }
}

async function checkConnections(cli: Cli): Promise<Check[]> {
  const { home, env, cwd, composition, now } = cli;
  try {
    const { openConnectionStore } = await import("@troupe/connectors");
    // A check changes nothing, not even the mode of the file.
    const stored = await openConnectionStore(home.path, { mends: false }).list();
    const { office } = await composition.readConfig({ home, env, cwd, workspace: null });
    const choices = officeDomains.map(async (domain) => {
      const problem = await chooseConnection(domain, office, stored).then(() => null, connectionFailure);
      return problem === null ? [] : [toCheck(problem)];
    });
    const accounts = stored.map((each) => checkAccount(each, now()));
    return [
      ...accounts,
      ...(await checkMode(join(home.path, "connections.db"))),
      ...(await Promise.all(choices)).flat(),
    ];
  } catch (thrown) {
    return [toCheck(connectionFailure(thrown))];
  }
}

const othersBits = 0o077;

async function checkMode(path: string): Promise<Check[]> {
  const mode = (await stat(path)).mode & 0o777;
  if ((mode & othersBits) === 0) return [];
  return [warn("connections", `other users can use ${path} (${mode.toString(8)})`, "troupe doctor --fix")];
}

function toCheck(problem: unknown): Check {
  const { message, fix } = toTroupeError(problem);
  return fail("connections", message, fix ?? "troupe connections ls");
}

/** An access token of Google or Slack lives for hours and is refreshed by itself. Only a refused refresh ends the access. */
function checkAccount({ id, kind, account, settings }: StoredConnection, nowMs: number): Check {
  const name = `connection ${id}`;
  if (settings.isRevoked === "true") {
    return warn(
      name,
      `${account}: the service refused the access`,
      `troupe connect ${kind === "standard" ? "mail" : kind}`,
    );
  }
  const { tokenExpiresAt } = settings;
  if (tokenExpiresAt === undefined) return ok(name, `${account}: its access has no end`);
  const isOver = Date.parse(tokenExpiresAt) <= nowMs;
  return ok(name, `${account}: its token ${isOver ? "ended" : "ends"} ${tokenExpiresAt} and is refreshed by itself`);
}
