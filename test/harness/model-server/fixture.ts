import type { TestContext } from "vitest";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./start-model-server.ts";

type Test = Pick<TestContext, "onTestFinished">;

/** A server that is stopped with its test. */
export async function startServer(test: Test, options: ModelServerOptions): Promise<ModelServer> {
  const server = await startModelServer(options);
  test.onTestFinished(() => server.close());
  return server;
}

type Steps = ModelServerOptions["scenario"]["agents"][string][number]["steps"];

/** One agent `main` with these answers. */
export function saying(...steps: Steps): ModelServerOptions["scenario"] {
  return { agents: { main: [{ steps }] } };
}

const keys: Record<string, Record<string, string>> = {
  "/v1/messages": { "anthropic-version": "2023-06-01", "x-api-key": "k" },
  "/v1/messages/count_tokens": { "anthropic-version": "2023-06-01", "x-api-key": "k" },
};

/** A request as it is, without a client that would mend it. */
export function post(server: ModelServer, path: string, body: unknown, headers?: Record<string, string>) {
  return fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...(headers ?? keys[path] ?? { authorization: "Bearer k" }) },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Parses the events of a stream, with their names. */
export async function eventsOf(
  response: Response,
): Promise<{ event: string | null; data: Record<string, unknown> | "[DONE]" }[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((block) => {
      const [, event = null] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data = ""] = /^data: (.*)$/m.exec(block) ?? [];
      return { event, data: data === "[DONE]" ? data : JSON.parse(data) };
    });
}
