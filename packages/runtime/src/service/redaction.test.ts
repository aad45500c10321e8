/** Input of people and replies of the daemon: neither stores nor passes on a secret. */
import { ApprovalAnswer, createRedactor, SubmitSession, type TroupeService } from "@troupe/core";
import { createCountingIds } from "@troupe/core/memory";
import { afterEach, describe, expect, it } from "vitest";
import { createTestDeps, rootRequest } from "../host/host-deps.test-helper.ts";
import type { HttpServer } from "../http/serve.ts";
import { createFakeService, serveFake, token } from "../http/service.fixture.ts";
import { beginSession } from "./begin-session.ts";
import { redactService } from "./service.ts";

const key = "key-0123456789-abcdef";
const mark = "[redacted: SHOP_KEY]";
const redact = createRedactor({ values: [{ name: "SHOP_KEY", value: key }] });
const run = createCountingIds().next();

describe("input of people is stored without secrets", () => {
  const received: unknown[] = [];
  const hear =
    (result: unknown) =>
    async (...input: unknown[]) => {
      received.push(input);
      return result as never;
    };
  const service = redactService(
    {
      ...createFakeService(),
      submit: hear({}),
      cancel: hear({}),
      cancelRun: hear({}),
      steer: hear({}),
      pause: hear({}),
      resume: hear({}),
      answer: hear({}),
    },
    redact,
  );

  it.each<[string, () => Promise<unknown>]>([
    ["a task", () => service.submit(SubmitSession.parse({ task: key, context: key, workspace: "/srv" }))],
    ["a cancel", () => service.cancel(run, key)],
    ["a cancel of a run", () => service.cancelRun(run, key)],
    ["a word", () => service.steer(run, key, key)],
    ["a pause", () => service.pause(run, key)],
    ["a resume", () => service.resume(run, key)],
    ["an answer", () => service.answer(run, ApprovalAnswer.parse({ approved: false, reason: key, by: key }))],
  ])("%s", async (_, say) => {
    received.length = 0;
    await say();
    expect(JSON.stringify(received)).toContain(mark);
    expect(JSON.stringify(received)).not.toContain(key);
  });
});

it("replies from files and settings have no secrets", async () => {
  const told = { agents: [{ description: key }], problems: [{ message: key }] };
  const telling: TroupeService = {
    ...createFakeService(),
    agents: async () => told as never,
    explain: async () => told as never,
    status: async () => told as never,
  };
  const service = redactService(telling, redact);
  const answers = [await service.agents(null), await service.explain(run), await service.status()];
  expect(JSON.stringify(answers)).not.toContain(key);
});

it("a folder with a secret in its path is refused, because its path could not be stored", async () => {
  const deps = { ...createTestDeps({ agents: [], script: () => ({}) }), redact };
  const request = rootRequest({ run, workspace: { id: "w1", path: `/srv/${key}/x` } });
  await expect(beginSession(deps, request, { origin: "api", demo: false })).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining(`/srv/${mark}/x`),
  });
  expect(await deps.journal.openRuns()).toEqual([]);
});

describe("an error over HTTP", () => {
  let server: HttpServer | null = null;
  afterEach(() => server?.close());

  it.each([
    ["of a body that does not fit", "POST", "/api/v1/sessions", { task: key, limits: { [key]: 1 }, budget: key }],
    ["of an unknown path", "GET", `/api/v1/${key}`, null],
    ["of a content type", "POST", "/api/v1/sessions", "text"],
  ])("%s names no secret", async (_, method, path, body) => {
    server = await serveFake(createFakeService(), { redact });
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": body === "text" ? `text/${key}` : "application/json",
    };
    const init = { method, headers, ...(body === null ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(server.url + path, init);
    const text = await response.text();
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain(key);
  });
});
