import { createHmac } from "node:crypto";
import type { Clock } from "@troupe/core";
import type { WebPolicy } from "@troupe/core/internal";
import { createHttpClient, type HttpClient } from "@troupe/tools/internal";

/** Result of an attempt. `gone`: the receiver wants no more messages. */
export interface Attempt {
  result: "delivered" | "failed" | "gone";
  httpStatus: number | null;
  error: string | null;
}

/**
 * The signature of a message as Standard Webhooks defines it: HMAC-SHA256 over id, timestamp and body.
 *
 * @example
 * signatureOf({ id: "msg_1", timestamp: 1_700_000_000, body: "{}" }, `whsec_${key}`); // "v1,…"
 */
export function signatureOf(message: { id: string; timestamp: number; body: string }, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = `${message.id}.${message.timestamp}.${message.body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

export interface PostOptions {
  url: string;
  secret: string;
  message: { id: string; body: string };
  clock: Clock;
  policy: WebPolicy;
  signal: AbortSignal;
}

const timeouts = { connectMs: 10_000, responseMs: 15_000, totalMs: 20_000 };
/** The response is not read by anyone. */
const limits = { wireBytesMax: 64 * 1024, bytesMax: 64 * 1024 };

/** Sends one message. Never rejects for a failure of the receiver. Redirects are failures: they would change the address. */
export async function postMessage(options: PostOptions): Promise<Attempt> {
  const { url: text, secret, message, clock, signal } = options;
  const url = new URL(text);
  const request: HttpClient = createHttpClient({ policy: allowLoopback(options.policy, url), clock, timeouts, limits });
  const timestamp = Math.floor(clock.now() / 1_000);
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(message.body)),
    "webhook-id": message.id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatureOf({ ...message, timestamp }, secret),
  };
  try {
    const { status } = await request({ url, method: "POST", headers, body: message.body, signal, redirectsMax: 0 });
    if (status >= 200 && status < 300) return { result: "delivered", httpStatus: status, error: null };
    return { result: status === 410 ? "gone" : "failed", httpStatus: status, error: `the receiver answered ${status}` };
  } catch (error) {
    if (signal.aborted) throw error;
    return { result: "failed", httpStatus: null, error: error instanceof Error ? error.message : String(error) };
  }
}

const loopbackHosts = ["127.0.0.1", "localhost", "[::1]"];

/**
 * The user wrote the address of a webhook, so one on this machine is allowed. Every other private address needs the policy,
 * as for a web page.
 */
function allowLoopback(policy: WebPolicy, { hostname, port, protocol }: URL): WebPolicy {
  if (!loopbackHosts.includes(hostname)) return policy;
  const host = `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
  return { ...policy, privateHosts: [...policy.privateHosts, host] };
}
