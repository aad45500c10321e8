import type { ConnectionStatus } from "../../ports/connection.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { CheckedAccount } from "../standard-options.ts";
import type { DavClient } from "./dav-client.ts";

/** The state of a connection to a server of WebDAV. */
export async function davStatus(
  { user }: CheckedAccount,
  client: DavClient,
  { canWrite, note }: Pick<ConnectionStatus, "canWrite" | "note">,
): Promise<ConnectionStatus> {
  const status = { account: user.address, rateLimit: null };
  try {
    await client.collections();
    return { ...status, auth: "valid", canWrite, note };
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.type !== "auth") throw thrown;
    return { ...status, auth: "revoked", canWrite: false, note: null };
  }
}
