import type { Cli } from "../cli.ts";
import { toTroupeError } from "../failure.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** The way to others, where one is named: whether it leads anywhere, and what is there. */
export async function checkBus({ composition, home, env, cwd }: Cli): Promise<Check> {
  try {
    const found = await composition.checkNats({ home, env, cwd });
    if (!found) return ok("bus", "in-process");
    const { server, version, namespace, warnings } = found;
    const detail = `${server} answers: nats-server ${version} with JetStream, namespace ${namespace}`;
    const [warning] = warnings;
    if (warning === undefined) return ok("bus", detail);
    const more = warnings.length > 1 ? ` (and ${warnings.length - 1} more)` : "";
    return warn("bus", `${detail}; ${warning}${more}`, "troupe up   # says all of it at its start");
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("bus", message, fix ?? "unset NATS_URL");
  }
}
