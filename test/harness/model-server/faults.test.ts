/** Tests the injected faults on every wire format, as a client sees them. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Fault } from "@troupe/models";
import { describe, expect, test } from "vitest";
import { post, saying, startServer } from "./fixture.ts";
import type { ModelServer } from "./start-model-server.ts";

const wires = [
  {
    wire: "anthropic",
    path: "/v1/messages",
    body: { model: "claude-opus-5", max_tokens: 2_000, messages: [{ role: "user", content: "go" }] },
    end: "event: message_stop",
    piece: "text_delta",
  },
  {
    wire: "chat",
    path: "/v1/chat/completions",
    body: { model: "gpt-4.1", messages: [{ role: "user", content: "go" }] },
    end: "[DONE]",
    piece: '"delta":{"content":"',
  },
  {
    wire: "responses",
    path: "/v1/responses",
    body: { model: "gpt-5", input: [{ role: "user", content: "go" }] },
    end: "event: response.completed",
    piece: "event: response.output_text.delta",
  },
];

const piecesIn = (text: string, piece: string) => text.split(piece).length - 1;

const steps = (...faults: Fault[]) => saying({ text: "one two three", latencyMs: 3, deltas: 3, faults });

/** Reads until the stream ends or breaks. Returns the text, and whether it ended properly. */
async function readAll(response: Response): Promise<{ text: string; isWhole: boolean }> {
  let text = "";
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    return { text, isWhole: true };
  } catch {
    return { text, isWhole: false };
  }
}

describe.for(wires)("on the wire $wire", ({ path, body, end, piece }) => {
  const stream = (server: ModelServer) => post(server, path, { ...body, stream: true });

  test("an answer is complete after all faults are used up", async (context) => {
    const server = await startServer(context, { scenario: steps({ status: 529 }, { status: 500 }) });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await stream(server)).status);
    expect(statuses).toEqual([529, 500, 200]);
    expect(server.calls().map(({ triesBefore, fault }) => [triesBefore, fault])).toEqual([
      [0, { status: 529 }],
      [1, { status: 500 }],
      [2, null],
    ]);
  });

  test.for([
    { retryAfterMs: 2_000, headers: { "retry-after": "2", "retry-after-ms": null } },
    { retryAfterMs: 20, headers: { "retry-after": "1", "retry-after-ms": "20" } },
  ])("a refusal has the time to wait: $retryAfterMs ms", async ({ retryAfterMs, headers }, context) => {
    const server = await startServer(context, { scenario: steps({ status: 429, retryAfterMs, message: "slow down" }) });
    const response = await stream(server);
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ error: { message: "slow down" } });
    for (const [name, value] of Object.entries(headers)) expect(response.headers.get(name)).toBe(value);
  });

  test.for([0, 1, 2])("a connection is cut after %i pieces", async (afterPieces, context) => {
    const server = await startServer(context, { scenario: steps({ cut: { afterPieces } }) });
    const response = await stream(server);
    const { text, isWhole } = await readAll(response);
    expect(response.status).toBe(200);
    expect(isWhole).toBe(false);
    expect(piecesIn(text, piece)).toBe(afterPieces);
    expect(text).not.toContain(end);
    await server.waitUntil(([call]) => call?.outcome === "lost");
  });

  test("a late cut removes the end of an answer", async (context) => {
    const server = await startServer(context, { scenario: steps({ cut: { afterPieces: 99 } }) });
    const { text, isWhole } = await readAll(await stream(server));
    expect([isWhole, piecesIn(text, piece), text.includes(end)]).toEqual([false, 3, false]);
  });

  test("an error in the middle of an answer ends it", async (context) => {
    const fault = { streamError: { afterPieces: 2, status: 529, message: "too much" } };
    const server = await startServer(context, { scenario: steps(fault) });
    const { text, isWhole } = await readAll(await stream(server));
    expect(isWhole).toBe(true);
    expect(piecesIn(text, piece)).toBe(2);
    expect(text).toContain('"message":"too much"');
    expect(text).not.toContain(end);
  });

  test.for<Fault>([{ stall: { afterPieces: 1 } }, { halfOpen: { afterPieces: 1 } }])(
    "an answer stops without an end: %j",
    async (fault, context) => {
      const server = await startServer(context, { scenario: steps(fault) });
      const abort = new AbortController();
      const response = await fetch(server.url + path, {
        method: "POST",
        headers: { "anthropic-version": "2023-06-01", "x-api-key": "k" },
        body: JSON.stringify({ ...body, stream: true }),
        signal: abort.signal,
      });
      const reader = response.body?.getReader();
      let text = "";
      while (piecesIn(text, piece) < 1) text += Buffer.from((await reader?.read())?.value ?? []).toString();
      // The absence of an answer cannot be awaited, so a second request must be answered while the first is not.
      expect((await readAll(await stream(server))).text).toContain(end);
      expect(server.calls()).toMatchObject([{ outcome: "open" }, {}]);
      abort.abort();
      await expect(reader?.read()).rejects.toThrow();
    },
  );

  test.for([
    { notWhatItSays: "html" as const, type: "text/html", text: /<html>/ },
    { notWhatItSays: "json" as const, type: "application/json", text: /^\{"hello"/ },
    { notWhatItSays: "empty" as const, type: "text/event-stream", text: /^$/ },
  ])("status 200 is followed by $notWhatItSays", async ({ notWhatItSays, type, text }, context) => {
    const server = await startServer(context, { scenario: steps({ notWhatItSays }) });
    const response = await stream(server);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
    expect(await response.text()).toMatch(text);
  });

  test("arguments are sent as they are scripted", async (context) => {
    const rawArgs = '{"path": "a';
    const server = await startServer(context, { scenario: saying({ calls: [{ tool: "read", rawArgs }] }) });
    const { text } = await readAll(await stream(server));
    const pieces = [...text.matchAll(/"(?:partial_json|arguments|delta)":("(?:[^"\\]|\\.)*")/g)].map(([, part = ""]) =>
      JSON.parse(part),
    );
    expect(pieces.join("")).toContain(rawArgs);
  });

  test("a scripted error after some text is an error within the stream", async (context) => {
    const error = { type: "network" as const, message: "gone" };
    const server = await startServer(context, {
      scenario: saying({ text: "one two", latencyMs: 2, deltas: 2, error }),
    });
    const { text } = await readAll(await stream(server));
    expect(piecesIn(text, piece)).toBe(2);
    expect(text).toContain('"message":"gone"');
  });

  test("a scripted error without text is a refusal", async (context) => {
    const error = { type: "rate_limit" as const, message: "later", retryAfterMs: 3_000 };
    const server = await startServer(context, { scenario: saying({ error }) });
    const response = await stream(server);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3"]);
  });

  test("a question without an answer in the scenario is refused with the reason", async (context) => {
    const server = await startServer(context, { scenario: { agents: { other: [{ steps: [{ text: "hi" }] }] } } });
    const response = await stream(server);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("it has no agent main, only other");
  });
});

test("a half-open connection does not even deliver its end", async (context) => {
  const server = await startServer(context, { scenario: steps({ halfOpen: { afterPieces: 0 } }) });
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const body = JSON.stringify({ ...wires[1]?.body, stream: true });
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  await once(socket, "data");
  let isEnded = false;
  socket.once("end", () => {
    isEnded = true;
  });
  socket.end();
  await post(server, "/v1/chat/completions", wires[1]?.body);
  expect(isEnded).toBe(false);
  expect(server.calls()[0]).toMatchObject({ outcome: "open" });
  socket.destroy();
});

describe("random faults hit", () => {
  const scenario = saying({ text: "yes", repeat: true });
  const ask = async (server: ModelServer, words: string) =>
    (await post(server, "/v1/chat/completions", { model: "gpt-4.1", messages: [{ role: "user", content: words }] }))
      .status;
  const words = Array.from({ length: 300 }, (_, i) => `question ${i}`);
  const chaos = { share: 0.3, statuses: [429, 529, 500], seed: 7 };

  test("their share, in any order, and the same requests in every run", async (context) => {
    const run = async (asked: string[]) => {
      const server = await startServer(context, { scenario, chaos });
      return new Map(await Promise.all(asked.map(async (each) => [each, await ask(server, each)] as const)));
    };
    const first = await run(words);
    const second = await run(words.toReversed());
    for (const each of words) expect(second.get(each)).toBe(first.get(each));
    const refused = [...first.values()].filter((status) => status !== 200);
    expect(refused.length).toBeGreaterThan(60);
    expect(refused.length).toBeLessThan(120);
    expect(new Set(refused)).toEqual(new Set(chaos.statuses));
  });

  test("each try separately", async (context) => {
    const server = await startServer(context, { scenario, chaos: { ...chaos, share: 0.9, retryAfterMs: 40 } });
    let tries = 0;
    while ((await ask(server, "once more")) !== 200) tries += 1;
    expect(server.calls()).toHaveLength(tries + 1);
    expect(server.calls().map(({ triesBefore }) => triesBefore)).toEqual(server.calls().map((_, i) => i));
  });
});
