/**
 * A minimal model server with a wire format and a latency, so that the figures show the cost of the client. It runs in
 * its own process and prints its address on stdout.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, wires } from "./wires.ts";

const children = Number(process.argv[2]);
const latencyMs = Number(process.argv[3]);
/** Of the main agent's own calls. */
const mainLatencyMs = Number(process.argv[4] ?? latencyMs);

/** Requests of sub-agents that wait for their first answer. */
let waiting = 0;

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => response.destroy(error as Error));
});
// Longer than any pause between two measurements.
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", 8_192, () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === "/waiting") {
    response.end(String(waiting));
    return;
  }
  const wire = wires[request.url?.split("?")[0] ?? ""];
  const body = await textOf(request);
  if (!wire) {
    response.writeHead(404).end();
    return;
  }
  const isWorker = !body.includes(mainMark);
  const hasResult = wire.hasResult(body);
  if (isWorker && !hasResult) waiting += 1;
  if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, isWorker ? latencyMs : mainLatencyMs));
  if (isWorker && !hasResult) waiting -= 1;
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": "req_bench" });
  response.end(wire.stream(answerTo(isWorker, hasResult)));
}

/** The main agent hands out its work, then answers; a sub-agent looks something up, then answers. */
function answerTo(isWorker: boolean, hasResult: boolean): Answer {
  if (hasResult) return { text: "Found the requested text; nothing unexpected." };
  if (isWorker) return { call: { name: "lookup", args: { part: "seven" } } };
  const tasks = Array.from({ length: children }, (_, i) => ({ agent: "worker", task: `Look into part ${i}.` }));
  return { call: { name: "delegate", args: { tasks, mode: "parallel" } } };
}

/** Stands in the main agent's prompt, and in no other. */
const mainMark = "You are the main.";

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
