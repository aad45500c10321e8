import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import type { NatsLink } from "../link.ts";
import { unreachable } from "../link-errors.ts";

/** A request that fails as soon as the connection is lost: the client itself would wait until its time is over. */
export async function ask(
  link: NatsLink,
  subject: string,
  bytes: Uint8Array | string,
  { timeoutMs, headers }: { timeoutMs: number; headers?: MsgHdrs },
): Promise<Msg> {
  if (!link.connected) throw unreachable(link.shown);
  let stop = (): void => {};
  const cutOff = new Promise<never>((_, reject) => {
    stop = link.onEvent(({ kind }) => {
      if (kind === "disconnected" || kind === "closed") reject(unreachable(link.shown));
    });
  });
  const options = { timeout: Math.max(1, timeoutMs), ...(headers ? { headers } : {}) };
  try {
    return await Promise.race([link.connection.request(subject, bytes, options), cutOff]);
  } finally {
    stop();
  }
}
