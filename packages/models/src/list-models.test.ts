/** The models that a server lists, and the failure without a list, which never contains the key. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createSimulatedClock } from "@troupe/core/memory";
import { expect, onTestFinished, test } from "vitest";
import { listModels } from "./list-models.ts";
import { presetSettings } from "./presets.ts";

const key = "sk-secret-0123456789";

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json =
  (value: unknown): RequestListener =>
  (_request, response) =>
    response.end(JSON.stringify(value));

test("OpenAI's API gets a bearer token, Anthropic's gets its own headers", async () => {
  const seen: unknown[] = [];
  const url = await serve(({ url: path, headers }, response) => {
    seen.push([path, headers.authorization, headers["x-api-key"], headers["anthropic-version"], headers["x-team"]]);
    response.end(JSON.stringify({ data: [{ id: "b" }, { id: "a", more: 1 }, { id: "b" }] }));
  });
  const headers = { "X-Team": "t" };
  expect(await listModels(presetSettings("openai", { baseUrl: `${url}/v1`, key, headers }))).toEqual(["a", "b"]);
  expect(await listModels(presetSettings("anthropic", { baseUrl: url, key }))).toEqual(["a", "b"]);
  expect(await listModels(presetSettings("anthropic", { baseUrl: url, authToken: "token" }))).toEqual(["a", "b"]);
  expect(await listModels(presetSettings("ollama", { baseUrl: `${url}/v1` }))).toEqual(["a", "b"]);
  expect(seen).toEqual([
    ["/v1/models", `Bearer ${key}`, undefined, undefined, "t"],
    ["/v1/models?limit=1000", undefined, key, "2023-06-01", undefined],
    ["/v1/models?limit=1000", "Bearer token", undefined, "2023-06-01", undefined],
    ["/v1/models", undefined, undefined, undefined, undefined],
  ]);
});

test.for<[string, RequestListener, string, string]>([
  ["a key is wrong", (_, response) => response.writeHead(401).end(key), "auth", "export OPENAI_API_KEY=…"],
  ["it is another server", (_, response) => response.end("<html>"), "params", "does not return a list of models"],
  ["its list is invalid", json({ data: "x" }), "params", "does not return a list of models"],
  ["it is busy", (_, response) => response.writeHead(503).end(), "rate_limit", "HTTP 503"],
])("when %s, the failure says so without the key", async ([, answer, type, message]) => {
  const url = await serve(answer);
  const thrown = await listModels(presetSettings("openai", { baseUrl: url, key })).catch((error) => error);
  expect(thrown).toMatchObject({ runError: { type, message: expect.stringContaining(message) } });
  expect(thrown.message).not.toContain(key);
});

test("a redirect is not followed: the key would go along", async () => {
  let followed = 0;
  const other = await serve((_, response) => {
    followed += 1;
    json({ data: [] })(_, response);
  });
  const url = await serve((_, response) => response.writeHead(302, { location: `${other}/v1/models` }).end());
  await expect(listModels(presetSettings("openai", { baseUrl: url, key }))).rejects.toThrow("refused");
  expect(followed).toBe(0);
});

test("a silent server and a missing server are given up", async () => {
  const clock = createSimulatedClock();
  const url = await serve(() => clock.advance(5_000));
  await expect(listModels(presetSettings("openai", { baseUrl: url }), { clock })).rejects.toMatchObject({
    runError: { type: "network", message: expect.stringContaining("no answer within 5000 ms") },
  });
  await expect(listModels(presetSettings("openai", { baseUrl: "http://127.0.0.1:1" }))).rejects.toThrow(
    /cannot be reached/,
  );
});
