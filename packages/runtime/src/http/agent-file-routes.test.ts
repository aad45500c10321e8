import { createRedactor } from "@troupe/core";
import { agentFileBytesMax } from "@troupe/core/internal";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createHttpClient } from "./client.ts";
import type { HttpServer } from "./serve.ts";
import { createFakeService, fileVersion, sampleCheck, serveFake, token } from "./service.fixture.ts";
import { clientHeaders, errorOf, send, type WireResponse } from "./wire.fixture.ts";

const service = createFakeService();
let server: HttpServer;
beforeAll(async () => {
  server = await serveFake(service);
});
afterAll(() => server.close());
beforeEach(() => {
  service.commands.length = 0;
});

const draft = { id: "clerk", version: fileVersion, text: "---\n---\nx" };

function ask(method: string, path: string, body?: unknown): Promise<WireResponse> {
  const text = typeof body === "string" ? body : JSON.stringify(body ?? {});
  return send(server.port, {
    method,
    path,
    headers: clientHeaders(server.port),
    ...(method === "GET" ? {} : { body: text }),
  });
}

async function outcomeOf(method: string, path: string, body?: unknown): Promise<string> {
  const answer = await ask(method, path, body);
  return `${answer.status} ${errorOf(answer).code}`;
}

describe("the routes of agent files", () => {
  it("list and show files, also of a project", async () => {
    const list = await ask("GET", "/api/v1/agent-files?workspace=/my/project");
    expect(JSON.parse(list.text)).toMatchObject({ agents: [{ id: "clerk" }], project: { path: "/my/project" } });
    expect(JSON.parse((await ask("GET", "/api/v1/agent-files/clerk")).text)).toMatchObject({ row: { id: "clerk" } });
    expect(JSON.parse((await ask("POST", "/api/v1/agent-checks", draft)).text)).toMatchObject({ text: draft.text });
    expect(service.commands).toEqual([]);
  });

  it("save and delete a file in the version that the caller saw", async () => {
    expect((await ask("PUT", "/api/v1/agent-files/clerk", draft)).status).toBe(200);
    expect((await ask("PUT", "/api/v1/agent-files/clerk", { id: "clerk", version: null })).status).toBe(201);
    expect((await ask("DELETE", "/api/v1/agent-files/clerk", { version: fileVersion })).status).toBe(200);
    expect(service.commands).toEqual([
      `save {"id":"clerk","workspace":null,"version":"${fileVersion}","folder":"user","text":"---\\n---\\nx"}`,
      'save {"id":"clerk","workspace":null,"version":null,"folder":"user"}',
      `remove clerk {"workspace":null,"version":"${fileVersion}"}`,
    ]);
  });

  it.each([
    ["PUT", "/api/v1/agent-files/other", draft],
    ["PUT", "/api/v1/agent-files/..%2Fclerk", draft],
    ["PUT", "/api/v1/agent-files/clerk", { ...draft, path: "/etc/passwd" }],
    ["PUT", "/api/v1/agent-files/clerk", { ...draft, version: "1" }],
    ["PUT", "/api/v1/agent-files/clerk", { ...draft, form: { description: "x" } }],
    ["PUT", "/api/v1/agent-files/clerk", { id: "clerk" }],
    ["PUT", "/api/v1/agent-files/clerk", "not json"],
    ["POST", "/api/v1/agent-checks", { ...draft, id: "../clerk" }],
    ["POST", "/api/v1/agent-checks", { ...draft, folder: "/tmp" }],
    ["DELETE", "/api/v1/agent-files/clerk", {}],
    ["DELETE", "/api/v1/agent-files/clerk", { version: fileVersion, path: "/etc/passwd" }],
  ])("refuse an invalid request: %s %s %j", async (method, path, body) => {
    expect(await outcomeOf(method, path, body)).toMatch(/^400 (USAGE|UNKNOWN_AGENT)$/);
    expect(service.commands).toEqual([]);
  });

  it("refuse a text above the size of an agent file, and a body above its size in JSON", async () => {
    const text = "x".repeat(agentFileBytesMax + 1);
    expect(await outcomeOf("PUT", "/api/v1/agent-files/clerk", { ...draft, text })).toBe("400 USAGE");
    const huge = { ...draft, text: "x".repeat(6 * agentFileBytesMax) };
    expect(await outcomeOf("PUT", "/api/v1/agent-files/clerk", huge)).toBe("413 TOO_LARGE");
    expect(service.commands).toEqual([]);
  });

  it("answer clearly in a process without agent files", async () => {
    const bare = await serveFake({ ...service, agentFiles: undefined });
    const answer = await send(bare.port, { path: "/api/v1/agent-files", headers: clientHeaders(bare.port) });
    await bare.close();
    expect([answer.status, errorOf(answer).code]).toEqual([400, "USAGE"]);
  });

  it("work through the client", async () => {
    const { agentFiles } = createHttpClient({ url: server.url, token });
    expect((await agentFiles.list("/my/project")).project?.path).toBe("/my/project");
    const { check } = await agentFiles.read("clerk", null);
    expect(check).toEqual(sampleCheck("clerk"));
    const full = { ...draft, workspace: null, folder: "user" as const };
    expect((await agentFiles.check(full)).text).toBe(draft.text);
    await agentFiles.save(full);
    await agentFiles.remove("clerk", { workspace: null, version: fileVersion });
    expect(service.commands.map((command) => command.split(" ")[0])).toEqual(["save", "remove"]);
  });
});

it("no reply names a secret of an error", async () => {
  const key = "correct-horse-battery";
  const redacting = await serveFake(service, {
    redact: createRedactor({ values: [{ name: "SHOP_KEY", value: key }] }),
  });
  const headers = clientHeaders(redacting.port);
  const answer = await send(redacting.port, { method: "PUT", path: `/api/v1/agent-files/${key}`, headers, body: "{}" });
  await redacting.close();
  expect(answer.text).not.toContain(key);
});
