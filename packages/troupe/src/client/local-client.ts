import { TroupeError } from "@troupe/core/errors";
import { type Client, type ClientOptions, createClient } from "./client.ts";

export interface LocalClientOptions extends Pick<ClientOptions, "timeoutMs"> {
  /** The home of the daemon. @default `TROUPE_HOME`, else `troupe` in the XDG data folder */
  home?: string;
}

/**
 * Creates a client for the daemon that owns a home on this machine, with its URL and token from the home. Needs Node. Throws
 * `UNREACHABLE` if no daemon runs.
 *
 * @example
 * import { createLocalClient } from "troupe/client";
 *
 * const client = await createLocalClient();
 * const { sessions } = await client.list();
 * console.info(sessions.length);
 */
export async function createLocalClient({ home: given, ...options }: LocalClientOptions = {}): Promise<Client> {
  // Loaded here, because a browser has no homes.
  const { findOwner, locateHome } = await import("./home-owner.ts");
  const home = given === undefined ? locateHome({ env: process.env, cwd: process.cwd() }) : { path: given };
  const owner = await findOwner(home, { patienceMs: 15_000 });
  if (owner?.url) return createClient({ ...options, url: owner.url, token: owner.token });
  throw new TroupeError("UNREACHABLE", `no daemon runs in the home ${home.path}`, { fix: "troupe up" });
}
