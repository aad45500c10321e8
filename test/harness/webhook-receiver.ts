import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "vitest";

export interface ReceivedWebhook {
  headers: Record<string, string>;
  body: string;
  id: string;
  event: { type: string; timestamp: string; data: Record<string, Record<string, unknown>> };
}

/** A program of others that receives webhooks. */
export interface WebhookReceiver {
  url: string;
  /** Every request, also the refused ones. */
  received: ReceivedWebhook[];
  /** The status of the answers from now on; null: it does not answer. */
  answerWith(status: number | null): void;
}

/** Starts a receiver on loopback, which answers 204. */
export async function startWebhookReceiver(test: Pick<TestContext, "onTestFinished">): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  let status: number | null = 204;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    received.push({
      headers,
      body,
      id: String(request.headers["webhook-id"]),
      event: JSON.parse(body),
    });
    if (status === null) return;
    response.writeHead(status, status === 302 ? { location: "http://127.0.0.1:1/" } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith(next) {
      status = next;
    },
  };
}
