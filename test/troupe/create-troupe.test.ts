// The front door as a program uses it: real stores, a real HTTP server, and a process killed in the middle of a call.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Budget } from "@troupe/core";
import { createHttpClient } from "@troupe/runtime";
import { createTroupe, defineTool, type RunOptions, TroupeError, type TroupeEvent, type TroupeOptions } from "troupe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { writeNewsTeam } from "../harness/home-files.ts";

const scenario = `name: front-door
description: the answers of these tests' agents
agents:
  main:
    - when: { task: use the tool }
      steps:
        - calls: [{ tool: lookup, args: { word: actor } }]
        - { text: "{{result.0.output}}" }
    - when: { task: delegate }
      steps:
        - calls: [{ tool: delegate, args: { agent: helper, task: help me } }]
        - { text: "helped: {{result.0.summary}}" }
    - when: { task: ask surely }
      steps:
        - calls: [{ tool: delegate, args: { agent: helper, task: surely } }]
        - { text: "{{result.0.output}}" }
    - when: { task: look twice }
      steps:
        - calls: [{ tool: lookup, args: { word: actor } }]
        - calls: [{ tool: delegate, args: { agent: helper, task: look again } }]
        - { text: "{{result.0.summary}}" }
    - when: { task: wait }
      steps:
        - { latencyMs: 600000, text: too late }
    - when: { task: risky }
      steps:
        - calls: [{ tool: send, args: { to: them } }]
        - { text: "{{result.0.output}}" }
    - steps:
        - { text: hello, repeat: true }
  helper:
    - when: { task: surely }
      steps:
        - { text: "## Summary\\n\\nIt holds.\\n\\n## Confidence\\n\\n85 %" }
    - when: { task: look again }
      steps:
        - calls: [{ tool: lookup, args: { word: actor } }]
        - { text: "{{result.0.output}}" }
    - steps:
        - { text: done, repeat: true }
  news_lead:
    - steps:
        - { text: the lead's answer, repeat: true }
  news_writer:
    - steps:
        - { text: the writer's answer, repeat: true }
`;

const lookupParts = {
  name: "lookup",
  description: "Looks a word up.",
  input: z.strictObject({ word: z.string() }),
  risk: "low" as const,
  effect: "read" as const,
};
const lookup = defineTool({
  ...lookupParts,
  run: async ({ word }) => ({ output: `${word}: takes one message at a time` }),
});
const send = defineTool({
  name: "send",
  description: "Sends something.",
  input: z.strictObject({ to: z.string() }),
  risk: "high",
  effect: "unsafe",
  run: async ({ to }) => ({ output: `sent to ${to}` }),
});
const main = {
  id: "main",
  description: "Answers.",
  prompt: "You answer.",
  tools: ["lookup", "send"],
  subagents: { allow: ["helper"] },
};
const helper = { id: "helper", description: "Helps.", prompt: "You help." };

let folder: string;
let defaults: TroupeOptions;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "troupe-front-door-")));
  await writeFile(join(folder, "answers.yaml"), scenario);
  const env = { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: join(folder, "home") };
  const parts = { agents: [main, helper], tools: [lookup, send], workspace: folder, env };
  defaults = { ...parts, model: `scripted/${join(folder, "answers.yaml")}` };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function rejection(promise: Promise<unknown>): Promise<TroupeError> {
  const error = await promise.then(
    () => new Error("it was accepted"),
    (thrown) => thrown,
  );
  if (!TroupeError.is(error)) throw error;
  return error;
}

describe("a program", () => {
  test("runs an agent with its own tool, and receives its events", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    const events: TroupeEvent[] = [];
    const answer = await troupe.run("use the tool", { onEvent: (event) => events.push(event) });

    expect(answer).toMatchObject({ status: "completed", toolsUsed: ["lookup"] });
    expect(answer.summary).toBe("actor: takes one message at a time");
    expect(events[0]?.type).toBe("session.started");
    expect(events.find((event) => event.type === "tool.started")).toMatchObject({ agent: "main", tool: "lookup" });
    expect(events.at(-1)).toEqual({
      type: "session.settled",
      session: answer.sessionId,
      run: answer.runId,
      response: answer,
    });
  });

  test("gives requests to a team of its own, by default or by name", async () => {
    const path = await writeNewsTeam(join(folder, "my-teams"));
    await using troupe = await createTroupe({ ...defaults, store: "memory", teams: [path], team: "news" });
    expect(await troupe.run("go")).toMatchObject({ agent: "news_lead", summary: "the lead's answer" });
    expect(await troupe.run("go", { agent: "main" })).toMatchObject({ agent: "main" });
    expect(await troupe.run("go", { team: "news", agent: "writer" })).toMatchObject({ agent: "news_writer" });
    const spawned = await troupe.spawn("news/writer", "go").response;
    expect(spawned).toMatchObject({ agent: "news_writer", summary: "the writer's answer" });
    expect(await rejection(troupe.run("go", { team: "nws" }))).toMatchObject({
      ...{ code: "UNKNOWN_TEAM", fix: expect.stringContaining("did you mean news") },
    });

    await writeFile(join(path, "team.yaml"), "description: x\ncolour: red\n");
    const broken = await rejection(createTroupe({ ...defaults, store: "memory", teams: [path] }));
    expect(broken).toMatchObject({ code: "INVALID_TEAM", message: expect.stringContaining("team.yaml:2:") });
    const missing = await rejection(createTroupe({ ...defaults, store: "memory", teams: [join(folder, "none")] }));
    expect(missing).toMatchObject({ code: "INVALID_TEAM" });
  });

  test.each([
    ["reads shared content once if its policy allows it", "cacheReads: true\n", 1],
    ["reads for each agent without such a policy", "", 2],
  ])("%s", async (_, policy, expected) => {
    let reads = 0;
    const counted = defineTool({
      name: "lookup",
      description: "Looks a word up.",
      input: z.strictObject({ word: z.string() }),
      risk: "low",
      effect: "read",
      run: async ({ word }) => {
        reads += 1;
        return { output: `${word} is known` };
      },
    });
    await mkdir(join(folder, "home"));
    await writeFile(join(folder, "home", "policy.yaml"), policy);
    await using troupe = await createTroupe({ ...defaults, tools: [counted, send], store: "memory" });
    expect(await troupe.run("look twice")).toMatchObject({ status: "completed", summary: "actor is known" });
    expect(reads).toBe(expected);
  });

  test("reads the events of a stream one by one", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    const stream = troupe.stream("say hello");
    let text = "";
    for await (const event of stream) if (event.type === "text.delta") text += event.text;
    expect(text).toBe("hello");
    expect(await stream.response).toMatchObject({ summary: "hello", sessionId: stream.session });
  });

  test("delegates to another of its agents", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    const answer = await troupe.run("delegate");
    expect(answer.summary).toBe("helped: done");
    expect((await troupe.sessions.get(answer.sessionId))?.runs.map(({ agent }) => agent)).toEqual(["main", "helper"]);
  });

  test("reports how sure an agent is: in its response, to its parent and in the record", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    expect(await troupe.spawn("helper", "surely").response).toMatchObject({ summary: "It holds.", confidence: 0.85 });
    const parent = await troupe.run("ask surely");
    expect(JSON.parse(parent.details)).toMatchObject({ summary: "It holds.", confidence: 0.85 });
    const runs = (await troupe.sessions.get(parent.sessionId))?.runs ?? [];
    expect(runs.map(({ agent, confidence }) => [agent, confidence])).toEqual([
      ["main", null],
      ["helper", 0.85],
    ]);
  });

  test("spawns one agent, and several at once", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    expect(await troupe.spawn("helper", "help").response).toMatchObject({ agent: "helper", summary: "done" });
    const both = await troupe.fanOut([
      { agent: "helper", task: "one" },
      { agent: "main", task: "two" },
    ]);
    expect(both.map(({ summary }) => summary)).toEqual(["done", "hello"]);
  });

  test("limits the runs that work at once to its capacity", async () => {
    let working = 0;
    let mostWorking = 0;
    const slowLookup = defineTool({
      ...lookupParts,
      run: async () => {
        working += 1;
        mostWorking = Math.max(mostWorking, working);
        await new Promise((resolve) => setTimeout(resolve, 20));
        working -= 1;
        return { output: "found" };
      },
    });
    const tools = [slowLookup, send];
    await using troupe = await createTroupe({ ...defaults, tools, store: "memory", capacity: 2 });
    const answers = await Promise.all([1, 2, 3, 4].map(() => troupe.run("use the tool")));
    expect(answers.map(({ summary }) => summary)).toEqual(Array.from({ length: 4 }, () => "found"));
    expect(mostWorking).toBe(2);
  });

  test("continues a session", async () => {
    await using troupe = await createTroupe(defaults);
    const first = await troupe.run("say hello");
    const second = await troupe.run("and again", { continues: first.sessionId });
    expect(second.sessionId).toBe(first.sessionId);
    expect(second.runId).not.toBe(first.runId);
    expect((await troupe.sessions.get(first.sessionId))?.runs).toHaveLength(2);
  });

  test("cancels a run by a signal, and by its session", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    const abort = new AbortController();
    const onEvent = (event: TroupeEvent): void => {
      if (event.type === "state.entered") abort.abort("enough");
    };
    expect(await troupe.run("wait", { signal: abort.signal, onEvent })).toMatchObject({ status: "cancelled" });

    const stream = troupe.stream("wait");
    for await (const event of stream) if (event.type === "state.entered") await troupe.cancel(stream.session);
    expect(await stream.response).toMatchObject({ status: "cancelled" });
  });

  test.each([
    ["approve", "sent to them"],
    ["deny", expect.stringContaining("denied")],
  ] as const)("answers a request for approval: %s", async (decision, summary) => {
    const asked: string[] = [];
    await using troupe = await createTroupe({
      ...defaults,
      store: "memory",
      onApproval: ({ tool, args }) => {
        asked.push(`${tool} ${JSON.stringify(args)}`);
        return decision;
      },
    });
    expect((await troupe.run("risky")).summary).toEqual(summary);
    expect(asked).toEqual(['send {"to":"them"}']);
  });

  test("asks before a request that matches a pattern of high risk", async () => {
    const patterns = [{ pattern: "to everyone", tools: ["send"], risk: "high" as const }];
    const asked: unknown[] = [];
    await using troupe = await createTroupe({
      ...defaults,
      store: "memory",
      agents: [{ ...main, intent: "patterns", patterns }, helper],
      onApproval: ({ tool, risk }) => {
        asked.push({ tool, risk });
        return "deny";
      },
    });
    expect(await troupe.run("say hello to Ann")).toMatchObject({ status: "completed", summary: "hello" });
    expect(asked).toEqual([]);
    expect((await troupe.run("say hello to everyone")).status).toBe("rejected");
    expect(asked).toEqual([{ tool: null, risk: "high" }]);
  });

  test("answers later, from the list of waiting approvals", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    const stream = troupe.stream("risky");
    for await (const event of stream) {
      if (event.type !== "approval.requested") continue;
      expect((await troupe.approvals()).map(({ id }) => id)).toEqual([event.approval.id]);
      await troupe.approve(event.approval.id);
    }
    expect((await stream.response).summary).toBe("sent to them");
  });

  test("reads agents from a file and from a folder", async () => {
    const text = "---\nname: writer\ndescription: Writes.\n---\nYou write.\n";
    await writeFile(join(folder, "writer.md"), text);
    const answers = scenario.replace(
      "  helper:\n",
      "  writer:\n    - steps:\n        - { text: written, repeat: true }\n  helper:\n",
    );
    await writeFile(join(folder, "answers.yaml"), answers);
    for (const agents of [["writer.md"], ["."]]) {
      const given = agents.map((path) => join(folder, path));
      await using troupe = await createTroupe({ ...defaults, store: "memory", agents: given });
      expect(await troupe.run("write", { agent: "writer" })).toMatchObject({ agent: "writer", summary: "written" });
    }
  });

  test("stores nothing with the store in memory, and everything in its home otherwise", async () => {
    const session = await (async () => {
      await using troupe = await createTroupe(defaults);
      return (await troupe.run("say hello")).sessionId;
    })();
    await using again = await createTroupe(defaults);
    expect((await again.sessions.response(session))?.summary).toBe("hello");
    await using other = await createTroupe({ ...defaults, store: "memory" });
    expect(await other.sessions.list()).toEqual([]);
  });

  test("can be watched over HTTP", async () => {
    await using troupe = await createTroupe({ ...defaults, http: true });
    const { token } = JSON.parse(
      String(
        await import("node:fs/promises").then(({ readFile }) => readFile(join(folder, "home", "owner.json"), "utf8")),
      ),
    );
    const client = createHttpClient({ url: troupe.url ?? "", token });
    const { sessionId } = await troupe.run("say hello");
    expect((await client.sessions()).sessions.map(({ session }) => session)).toEqual([sessionId]);
  });

  test.for<[string, TroupeOptions["budget"], RunOptions["budget"], Partial<Budget>]>([
    ["the default", undefined, undefined, { spawns: 200, tokens: null }],
    ["more runs by its options", { spawns: 300 }, undefined, { spawns: 300 }],
    ["more runs for one request", { spawns: 300 }, { spawns: 400 }, { spawns: 400 }],
    [
      "a limit for one request beside its options",
      { spawns: 300 },
      { tokens: 90_000 },
      { spawns: 300, tokens: 90_000 },
    ],
  ])("gives a request its budget: %s", async ([_, budget, request, expected]) => {
    await using troupe = await createTroupe({ ...defaults, store: "memory", ...(budget ? { budget } : {}) });
    const { sessionId } = await troupe.run("hello", request ? { budget: request } : {});
    const detail = await troupe.sessions.get(sessionId);
    expect(detail?.runs[0]?.budget).toMatchObject(expected);
  });

  test("shares the budget of its options among its agents", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory", budget: { toolCalls: 0 } });
    expect((await troupe.run("use the tool")).success).toBe(false);
  });
});

test("a program that is killed in the middle of a call continues at its next start", async () => {
  const program = join(import.meta.dirname, "killed-program.ts");
  const start = (mode: string) =>
    spawn(process.execPath, [program, folder, mode], { stdio: ["ignore", "pipe", "inherit"], env: {} });
  const first = start("wait");
  await new Promise<void>((resolve) =>
    first.stdout.on("data", (chunk) => String(chunk).includes("calling") && resolve()),
  );
  first.kill("SIGKILL");
  await once(first, "close");

  const second = start("finish");
  let out = "";
  second.stdout.on("data", (chunk) => {
    out += String(chunk);
  });
  expect((await once(second, "close"))[0]).toBe(0);
  expect(JSON.parse(out)).toEqual({
    calls: 2,
    sessions: 1,
    status: "completed",
    // The scripted model repeats the result, which names the file that the tool changed.
    summary: "slept\n[changed while this command ran: modified: calls.txt.]",
  });
});

describe("an error names its fix", () => {
  test.each([
    [{ modle: "x" }, "USAGE", 'createTroupe has no option "modle"', "did you mean model?"],
    [{ nats: { servers: "x" } }, "USAGE", 'createTroupe has no option "nats.servers"', "the options are: url, context"],
    [{ store: "disk" }, "USAGE", "the option store does not fit", "see the options of createTroupe"],
    [{ capacity: 0 }, "USAGE", "the option capacity does not fit", "see the options"],
    [{ tools: [{}] }, "USAGE", "it is not a tool of defineTool", "see the options"],
    [{ agents: ["./nowhere"] }, "INVALID_AGENT", '"./nowhere" does not exist', "name an agent file"],
    [{ agents: [{ id: "main" }] }, "INVALID_AGENT", 'the agent "main"', "an id, a description and a prompt"],
    [
      { agents: [{ ...main, intent: "patterns" }] },
      "INVALID_AGENT",
      'the agent "main" cannot be used: intent is patterns, but the agent has no patterns',
      "add patterns: ",
    ],
    [{ agents: [helper, helper] }, "INVALID_AGENT", 'two agents have the id "helper"', "another id"],
    [{ tools: [lookup, lookup] }, "USAGE", 'the tool "lookup" exists already', "another name"],
    [{ model: "nonsense" }, "UNKNOWN_MODEL", "nonsense", ""],
  ])("%j", async (options, code, message, fix) => {
    const open = createTroupe({ ...defaults, ...options } as TroupeOptions).then(async (troupe) => {
      // A model is looked up when a task wants it.
      await troupe.run("x").finally(() => troupe.close());
    });
    const error = await rejection(open);
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
    expect(error.fix).toContain(fix);
  });

  test("without a provider: the demo never answers a program that did not name it", async () => {
    const { model: _, ...rest } = defaults;
    await using troupe = await createTroupe({ ...rest, store: "memory" });
    const error = await rejection(troupe.run("x"));
    expect([error.code, error.fix]).toEqual(["NO_PROVIDER", expect.stringContaining("ANTHROPIC_API_KEY")]);
    expect(() => troupe.spawn("helper", "x")).toThrow("no model provider is set up");
  });

  test.each([
    [{ agent: "mian" }, "UNKNOWN_AGENT", "mian"],
    [{ agnet: "main" }, "USAGE", 'run has no option "agnet"'],
    [{ workspace: "/nowhere/at/all" }, "USAGE", "does not exist"],
    [{ timeoutMs: -1 }, "USAGE", "the option timeoutMs does not fit"],
    [{ timeoutMs: "soon" }, "USAGE", '"soon" is not a duration'],
    [{ limits: { maxDurationMs: "5 min" } }, "USAGE", '"5 min" is not a duration'],
    [{ continues: "00000000-0000-7000-8000-000000000009" }, "UNKNOWN_SESSION", "00000000-0000-7000-8000-000000000009"],
  ])("a task with %j", async (options, code, message) => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    const error = await rejection(troupe.run("x", options as object));
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
    expect(error.fix).toBeTruthy();
  });

  test("a task for an unknown agent, with the similar one and the known ones", async () => {
    await using troupe = await createTroupe({ ...defaults, store: "memory" });
    const { message, fix } = await rejection(troupe.run("x", { agent: "mian" }));
    expect([message, fix]).toEqual([expect.stringMatching(/"mian"; available: .*main/), "did you mean main?"]);
  });

  test("two troupes on one home", async () => {
    await using _first = await createTroupe(defaults);
    const error = await rejection(createTroupe(defaults));
    expect([error.code, error.message]).toEqual([
      "HOME_OWNED",
      expect.stringContaining(`a program (pid ${process.pid})`),
    ]);
    expect(error.fix).toContain("close the first troupe");
  });

  test("use after close", async () => {
    const troupe = await createTroupe({ ...defaults, store: "memory" });
    await Promise.all([troupe.close(), troupe.close()]);
    expect((await rejection(troupe.run("x"))).code).toBe("CLOSED");
    expect(() => troupe.stream("x")).toThrow("this troupe is closed");
    expect(() => troupe.spawn("helper", "x")).toThrow("this troupe is closed");
    expect((await rejection(troupe.approvals())).code).toBe("CLOSED");
  });

  test("closing while a task runs rejects it, with a message that the session continues", async () => {
    const troupe = await createTroupe(defaults);
    const stream = troupe.stream("wait");
    for await (const event of stream) {
      if (event.type !== "state.entered") continue;
      void troupe.close();
      break;
    }
    const error = await rejection(stream.response);
    expect([error.code, error.fix]).toEqual(["CLOSED", expect.stringContaining("the session goes on")]);
  });

  test("a failed start leaves nothing behind, and frees the home", async () => {
    await writeFile(join(folder, "config.yaml"), "models: 7\n");
    const env = { ...defaults.env, TROUPE_CONFIG: join(folder, "config.yaml") };
    expect((await rejection(createTroupe({ ...defaults, env }))).code).toBe("INVALID_CONFIG");
    expect(await readdir(join(folder, "home"))).not.toContain("owner.json");
    await using _troupe = await createTroupe(defaults);
  });
});
