/** A recorded session replays from its recording alone, or the first divergence is reported. */
import {
  type AgentDefinition,
  type AgentSource,
  type Entry,
  type EntryBody,
  type FeedItem,
  TroupeError,
} from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  ask,
  createTestDeps,
  delegate,
  endsWith,
  entriesOnce,
  type Script,
  type TestDeps,
  toolCall,
} from "../host/host-deps.test-helper.ts";
import {
  agents,
  answerTo,
  deploying,
  request,
  run,
  session,
  startHost,
  stopHosts,
} from "../host/run/commands.test-helper.ts";
import { sealEntries } from "../host/run/seal-entries.ts";
import { sendCommand } from "../host/run/send-command.ts";
import { readFeed, readRecording } from "./recording.ts";
import { createReplayProvider } from "./replay-provider.ts";
import { replaySession } from "./replay-session.ts";

// Every session that the tests of `host` and of test/delegation record is replayed as well, when they end.
afterEach(stopHosts);

/** main calls a tool and asks helper, which calls the tool too; then main answers. */
const script: Script = ({ origin }) => {
  if (origin.step === 1) return { text: "let me see", calls: [toolCall("echo", { of: origin.agent })] };
  if (origin.agent === "main" && origin.step === 2) return { calls: [delegate("helper", "help")] };
  return { text: `${origin.agent} is done` };
};

async function recorded(deps: TestDeps = createTestDeps({ agents, script })): Promise<FeedItem[]> {
  await startHost(deps);
  await ask(deps, request);
  return await readFeed(deps.journal);
}

/** The feed with one entry changed and the following entries of its run sealed again. */
function forged(feed: readonly FeedItem[], change: (entry: Entry) => EntryBody | null): FeedItem[] {
  const ends = new Map<string, { index: number; hash: string | null }>();
  return feed.flatMap((item): FeedItem[] => {
    if (item.kind !== "entry") return [item];
    const entry = openEntry(item.text);
    const changed = change(entry);
    if (changed === null) return [];
    const { hash: _, ...body } = changed as Entry;
    const { epoch, host, at } = entry;
    const end = ends.get(item.run) ?? { index: -1, hash: null };
    const writer = { session, run: item.run, epoch, host, at };
    const [written] = sealEntries(writer, end, [body as EntryBody], undefined);
    if (!written) return [];
    ends.set(item.run, { index: written.sealed.index, hash: written.sealed.hash });
    return [{ ...item, index: written.sealed.index, text: written.sealed.text }];
  });
}

function registry(changes: Record<string, Partial<AgentDefinition>>, deps: TestDeps): AgentSource {
  return {
    async load(workspace) {
      const known = await deps.agentSource.load(workspace);
      const changed = known.agents.map((agent) => ({ ...agent, ...changes[agent.id] }));
      return { ...known, agents: changed, find: (id) => changed.find((agent) => agent.id === id) };
    },
  };
}

describe("a replayed session", () => {
  it("is the same without any call, and has counts", async () => {
    const deps = createTestDeps({ agents, script });
    const feed = await recorded(deps);
    const [modelCalls, toolCalls] = [deps.modelCalls.length, deps.toolCalls.length];
    expect(await replaySession({ session, from: deps.journal })).toEqual({
      session,
      same: true,
      turns: 1,
      runs: 2,
      modelCalls,
      toolCalls,
      settled: true,
      divergence: null,
    });
    expect([deps.modelCalls.length, deps.toolCalls.length]).toEqual([modelCalls, toolCalls]);
    // As it is read from a file.
    expect(await replaySession({ session, from: JSON.parse(JSON.stringify(feed)) })).toMatchObject({ same: true });
  });

  it("is the same with the agents and tools of now if they are unchanged", async () => {
    const deps = createTestDeps({ agents, script });
    const feed = await recorded(deps);
    const today = { agentSource: deps.agentSource, tools: deps.tools.specs() };
    expect((await replaySession({ session, from: feed, ...today })).divergence).toBeNull();
  });

  it("is the same up to its end if it has not settled", async () => {
    const deps = createTestDeps({ agents, script: deploying });
    await startHost(deps);
    void ask(deps, request);
    await entriesOnce(deps, request, endsWith("run.parked"));
    expect(await replaySession({ session, from: deps.journal })).toMatchObject({
      same: true,
      settled: false,
      runs: 1,
    });
  });

  it("is the same on a busy machine if it was paused during a model call", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: Script = async () => {
      reached.resolve();
      await gate.promise;
      return { calls: [toolCall("echo")] };
    };
    const deps = createTestDeps({ agents, script: slow });
    await startHost(deps);
    void ask(deps, request);
    await reached.promise;
    await sendCommand(deps, { v: 1, at: 1, session, kind: "run.paused", run, by: "a person" });
    await entriesOnce(deps, request, endsWith("inbox.received"));
    gate.resolve();
    await entriesOnce(deps, request, endsWith("run.parked"));
    // Each look at the time takes longer: only one run gets a turn before the event loop goes round.
    let nowMs = performance.now();
    const busy = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 6));
    const { divergence } = await replaySession({ session, from: deps.journal }).finally(() => busy.mockRestore());
    expect(divergence).toBeNull();
  });

  it("that was not recorded is unknown", async () => {
    const error = await replaySession({ session: run, from: [] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TroupeError);
    expect(error).toMatchObject({ code: "UNKNOWN_SESSION" });
  });
});

describe("the first divergence is reported:", () => {
  it("an edited prompt, in the opening of its run", async () => {
    const deps = createTestDeps({ agents, script });
    const feed = await recorded(deps);
    const agentSource = registry({ helper: { prompt: "You are helper, and brief." } }, deps);
    const { same, runs, divergence } = await replaySession({ session, from: feed, agentSource });
    expect({ same, runs }).toEqual({ same: false, runs: 1 });
    expect(divergence).toMatchObject({
      why: "differs",
      agent: "helper",
      index: 0,
      kind: "run.opened",
      path: "pin.definition.prompt",
      recorded: "You are helper.",
      now: "You are helper, and brief.",
      paths: ["pin.definition.prompt", "pin.prompt", "pin.definitionHash"],
    });
    expect(divergence?.message).toContain("entry 0 (run.opened) of helper");
  });

  it("a removed tool, in the opening of the first run that had it", async () => {
    const deps = createTestDeps({ agents, script });
    const feed = await recorded(deps);
    const tools = deps.tools.specs().filter(({ name }) => name !== "danger");
    const { divergence } = await replaySession({ session, from: feed, agentSource: deps.agentSource, tools });
    expect(divergence).toMatchObject({ run, index: 0, kind: "run.opened", why: "differs" });
    expect(divergence?.paths.every((path) => /^pin\.(tools|grant\.tools)\./.test(path))).toBe(true);
  });

  it("an edited reply, in the next messages to the model", async () => {
    const feed = await recorded();
    const edited = forged(feed, (entry) =>
      entry.kind === "tool.finished" && entry.run === run
        ? { ...entry, outcome: { ...entry.outcome, output: "something else" } }
        : entry,
    );
    expect((await replaySession({ session, from: edited })).divergence).toMatchObject({
      why: "differs",
      run,
      index: 3,
      kind: "model.replied",
      path: "messagesHash",
      message: expect.stringContaining("the model gets other messages than it got in the recording"),
    });
  });

  it("an edited last reply, in the settlement", async () => {
    const feed = await recorded();
    const edited = forged(feed, (entry) =>
      entry.kind === "model.replied" && entry.run !== run && entry.step === 2
        ? { ...entry, reply: { ...entry.reply, text: "helper gave up" } }
        : entry,
    );
    expect((await replaySession({ session, from: edited })).divergence).toMatchObject({
      agent: "helper",
      index: 4,
      kind: "run.settled",
      path: "response.summary",
      recorded: "helper is done",
      now: "helper gave up",
    });
  });

  it("a call that was not recorded, if the run continues beyond the recording", async () => {
    const feed = await recorded();
    const shorter = forged(feed, (entry) => {
      if (entry.run !== run || entry.kind === "run.opened" || entry.kind === "run.settled") return entry;
      return "step" in entry && entry.step === 1 && entry.kind === "model.replied" ? entry : null;
    }).filter((item) => item.kind !== "entry" || item.run === run);
    expect((await replaySession({ session, from: shorter })).divergence).toMatchObject({
      why: "missing",
      run,
      index: 2,
      kind: "run.settled",
      message: expect.stringContaining("the run calls echo (1/0), which was not recorded"),
    });
  });

  it("a recorded call that the run no longer makes", async () => {
    const feed = await recorded();
    const silent = forged(feed, (entry) =>
      entry.kind === "model.replied" && entry.run === run && entry.step === 1
        ? { ...entry, reply: { ...entry.reply, calls: [], stopReason: "end" } }
        : entry,
    );
    expect((await replaySession({ session, from: silent })).divergence).toMatchObject({
      why: "missing",
      index: 2,
      kind: "tool.finished",
      message: expect.stringContaining("the run wants to write run.settled"),
    });
  });

  it("a child that its parent no longer starts", async () => {
    const feed = await recorded();
    const childless = forged(feed, (entry) => (entry.kind === "calls.planned" ? { ...entry, children: [] } : entry));
    expect((await replaySession({ session, from: childless })).divergence).toMatchObject({
      kind: "calls.planned",
      path: expect.stringMatching(/^children/),
    });
  });

  it("an entry that was changed in its file, by its hash", async () => {
    const feed = await recorded();
    const changed = feed.map((item) =>
      item.text.includes('"tool.finished"') ? { ...item, text: item.text.replace("echo", "ECHO") } : item,
    );
    expect((await replaySession({ session, from: changed })).divergence).toMatchObject({
      why: "altered",
      kind: "tool.finished",
    });
  });

  it("a command that the run received at another point", async () => {
    const deps = createTestDeps({ agents, script: deploying });
    await startHost(deps);
    const response = ask(deps, request);
    const asked = await entriesOnce(deps, request, endsWith("run.parked"));
    await sendCommand(deps, answerTo(asked, true));
    await response;
    const feed = await readFeed(deps.journal);
    const denied = forged(feed, (entry) =>
      entry.kind === "inbox.received" && entry.item.kind === "approval.answered"
        ? { ...entry, item: { ...entry.item, approved: false } }
        : entry,
    );
    expect((await replaySession({ session, from: denied })).divergence).toMatchObject({
      kind: "inbox.received",
      path: "item.approved",
      recorded: false,
      now: true,
    });
  });
});

it("a replay provider alone replies by run and step, and waits for an unrecorded call", async () => {
  const recording = readRecording(await recorded(), session);
  const unanswered: number[] = [];
  const models = createReplayProvider({ recording, onUnanswered: ({ step }) => unanswered.push(step) });
  const stop = new AbortController();
  const call = (step: number) => {
    const origin = { session, run, agent: "main", task: "", attempt: 1, step };
    const question = {
      model: "test/model",
      system: "",
      messages: [],
      tools: [],
      maxOutputTokens: 9,
      temperature: null,
    };
    return models.call({ ...question, origin }, { signal: stop.signal, onDelta: () => {} });
  };
  expect((await call(1)).text).toBe("let me see");
  expect((await call(3)).text).toBe("main is done");
  const ninth = call(9);
  stop.abort();
  await expect(ninth).rejects.toMatchObject({ runError: { type: "cancelled" } });
  expect(unanswered).toEqual([9]);
  expect(await models.priceOf("test/model")).toEqual({ inputPerMillion: 0, outputPerMillion: 0 });
});
