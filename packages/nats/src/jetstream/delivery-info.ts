/** Facts about a delivery, which the server puts into the subject for its acknowledgement. */
export interface DeliveryInfo {
  /** Number of deliveries of this message so far, including this one. */
  count: number;
  /** The message's sequence in the stream. */
  sequence: number;
  /** The number of this delivery among all deliveries of the consumer. */
  delivery: number;
  /** When the stream stored the message, by the server's clock. */
  atMs: number;
}

const nanosPerMs = 1_000_000;

/**
 * Parses `$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.COUNT.SEQUENCE.DELIVERY.NANOS.…`: the longer form has 11 tokens or more.
 * Null for any other subject.
 */
export function parseDeliveryInfo(reply = ""): DeliveryInfo | null {
  const tokens = reply.split(".");
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK") return null;
  const from = tokens.length >= 11 ? 6 : 4;
  const [count = Number.NaN, sequence = Number.NaN, delivery = Number.NaN, nanos = Number.NaN] = tokens
    .slice(from, from + 4)
    .map(Number);
  const isValid = [count, sequence, delivery].every(Number.isSafeInteger);
  return isValid ? { count, sequence, delivery, atMs: nanos / nanosPerMs } : null;
}
