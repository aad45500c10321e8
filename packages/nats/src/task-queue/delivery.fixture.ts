import { headers } from "@nats-io/transport-node";
import type { Delivery } from "./pulls.ts";

/** A message that a consumer delivered. */
export function deliveryOf(changes: Partial<Delivery> & Pick<Delivery, "requestedAt">): Delivery {
  const { seq = 1, count = 1 } = changes;
  const reply = `$JS.ACK.tasks.coder@any.${count}.${seq}.1.1.0`;
  const subject = "troupe.task.any.coder.r1";
  return { subject, bytes: new Uint8Array(), headers: headers(), reply, seq, count, ...changes };
}
