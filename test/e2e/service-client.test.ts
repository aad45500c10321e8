// The client that `troupe run` uses on its own process says what the HTTP client says, for the same sessions.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpClient } from "@troupe/runtime";
import { createTroupe, type Troupe } from "troupe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClientEvent, TroupeClient } from "../../packages/cli/src/session/client.ts";
import { createServiceClient } from "../../packages/cli/src/session/service-client.ts";

let folder: string;
let troupe: Troupe;
let inProcess: TroupeClient;
let overHttp: TroupeClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-service-client-"));
  const steps =
    "    - when: { task: wait }\n      steps: [{ latencyMs: 600000, text: late }]\n    - steps: [{ text: done }]\n";
  await writeFile(join(folder, "main.yaml"), `name: main\ndescription: one answer\nagents:\n  main:\n${steps}`);
  troupe = await createTroupe({
    model: `scripted/${join(folder, "main.yaml")}`,
    agents: [{ id: "main", description: "Answers.", prompt: "You answer." }],
    workspace: folder,
    env: { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: join(folder, "home") },
    http: true,
  });
  const { readFile } = await import("node:fs/promises");
  const { token } = JSON.parse(await readFile(join(folder, "home", "owner.json"), "utf8"));
  inProcess = createServiceClient(troupe.service);
  overHttp = createHttpClient({ url: troupe.url ?? "", token });
});
afterAll(async () => {
  await troupe.close();
  await rm(folder, { recursive: true, force: true });
});

/** The rows that a client's events lead to, and the kinds of its live events. */
async function follow(client: TroupeClient, session: string, after: number) {
  const stop = new AbortController();
  const events: ClientEvent[] = [];
  for await (const event of client.events({ session, after, signal: stop.signal })) {
    events.push(event);
    if (event.type === "change" && event.change.sessions.some(({ status }) => status === "completed")) break;
  }
  stop.abort();
  const rows = new Map(
    events.flatMap((event) => (event.type === "change" ? event.change.runs : [])).map((run) => [run.run, run]),
  );
  return [...rows.values()];
}

describe("both clients", () => {
  test("refuse an unknown agent with the similar one and the known ones", async () => {
    for (const client of [inProcess, overHttp]) {
      const refused = await client.submit({ task: "x", agent: "mian", origin: "api" }).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: "UNKNOWN_AGENT",
        message: expect.stringMatching(/"mian"; available: .*main/),
        fix: "did you mean main?",
      });
    }
  });

  test("show the same sessions, responses and changes", async () => {
    const { sessionId } = await troupe.run("say it");
    const seen = async (client: TroupeClient) => [
      (await client.sessions({ limit: 5 })).sessions,
      await client.session(sessionId),
      await client.response(sessionId),
      await client.changes({ session: sessionId }, { after: 0 }),
      (await client.approvals({ waiting: true, limit: 5 })).approvals,
      await client.agents(null),
      await client.rules(),
    ];
    expect(await seen(inProcess)).toEqual(await seen(overHttp));
  });

  test("follow a session from before it was submitted to its end", async () => {
    const { position } = await inProcess.sessions({ limit: 1 });
    const { sessionId } = await troupe.run("say it again");
    const [here, there] = await Promise.all([
      follow(inProcess, sessionId, position),
      follow(overHttp, sessionId, position),
    ]);
    expect(here.map(({ status }) => status)).toEqual(["completed"]);
    expect(here).toEqual(there);
  });

  test("get live events of their session alone", async () => {
    const stop = new AbortController();
    const { position } = await inProcess.sessions({ limit: 1 });
    const { session } = await inProcess.submit({ task: "wait", origin: "cli", workspace: folder });
    for await (const event of inProcess.events({ session, after: position, signal: stop.signal })) {
      if (event.type !== "live") continue;
      expect(event.event.session).toBe(session);
      break;
    }
    expect(await inProcess.cancel(session, "enough")).toMatchObject({ outcome: "requested" });
  });

  test("stop following when their signal aborts", async () => {
    const stop = new AbortController();
    const events = inProcess.events({ session: "00000000-0000-7000-8000-000000000001", after: 0, signal: stop.signal });
    const ended = events[Symbol.asyncIterator]().next();
    stop.abort();
    expect(await ended).toEqual({ done: true, value: undefined });
  });

  test.each([
    [{ task: "" }, "a task needs words"],
    [{ task: "x", timeoutMs: -1 }, "timeoutMs"],
  ])("refuse %j", async (request, message) => {
    for (const client of [inProcess, overHttp]) {
      await expect(client.submit({ origin: "cli", ...request })).rejects.toMatchObject({
        code: "USAGE",
        message: expect.stringContaining(message),
      });
    }
  });
});
