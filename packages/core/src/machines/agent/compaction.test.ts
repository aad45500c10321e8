/** Compaction of a conversation near its limit: references, then a summary, then the last turn. */
import { describe, expect, test } from "vitest";
import type { Message } from "../../protocol/model.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import {
  aBatch,
  anError,
  aToolCall,
  cancelled,
  claimed,
  commanded,
  compacted,
  modelFailed,
  reply,
  type SpecChanges,
  timerFired,
  toolFinished,
  trimmed,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";
import { planCompaction, planTrim, trimConversation as trimmedConversation } from "./compaction.ts";
import { emptyConversation, tokensOf } from "./conversation.ts";
import { contextLimit } from "./turn.ts";

const spec = (name: string, effect: ToolSpec["effect"] = "read"): ToolSpec => {
  return { name, description: name, risk: "low", effect, groups: [], inputSchema: {} };
};
const tools = [spec("read"), spec("shell", "unsafe"), spec("recall")];
const capped: SpecChanges = { tools, limits: { maxContextTokens: 4_000 } };

/** So many tokens of text, by our estimate. */
const words = (tokens: number): string => "abc".repeat(tokens);

interface Turn {
  /** Tokens of the model's own words. */
  says?: number;
  /** Tokens of each result. */
  results?: number[];
  tool?: string;
}

/** One whole turn at the step that the machine is at. */
function take(d: MachineDriver, { says = 0, results = [400], tool = "read" }: Turn = {}): void {
  const { step } = d.effect("callModel");
  const calls = results.map((_, place) => ({ ...aToolCall(tool, { step, place }), id: `${step}.${place}` }));
  d.feed(reply(step, words(says), calls));
  results.forEach((tokens, place) => void d.feed(toolFinished(step, place, words(tokens), { tool })));
}

/** Turns until room has to be made. */
function fill(d: MachineDriver, turn?: Turn): void {
  for (let i = 0; i < 50 && d.state() === "execute.think"; i += 1) take(d, turn);
}

/** A run that has just been told to sum itself up. */
function compacting(changes: SpecChanges = capped, turn: Turn = { says: 300, results: [100] }): MachineDriver {
  const d = drive(changes);
  fill(d, turn);
  expect(d.state()).toBe("execute.compacting");
  return d;
}

function tokensIn(d: MachineDriver): number {
  const { pin, messages } = d.context();
  return emptyConversation(pin).contextTokens + tokensOf(messages);
}

describe("the limit of a conversation", () => {
  test.each<[string, SpecChanges, number]>([
    ["null, if none is known", {}, Number.POSITIVE_INFINITY],
    ["the agent's own cap", { limits: { maxContextTokens: 20_000 } }, 20_000],
    ["the model's context window, minus the answer", { contextTokens: 200_000 }, 200_000 - 8_192],
    ["a small context window, of which a quarter stays", { contextTokens: 4_096 }, 3_072],
    ["the tighter of both", { contextTokens: 32_000, limits: { maxContextTokens: 90_000 } }, 32_000 - 8_000],
    ["the tighter of both", { contextTokens: 200_000, limits: { maxContextTokens: 90_000 } }, 90_000],
  ])("is %s", (_, changes, limit) => {
    expect(contextLimit(drive(changes).context().pin)).toBe(limit);
  });

  test("leaves the answer at most the rest of the context window", () => {
    const d = drive({ contextTokens: 4_096 });
    take(d, { results: [2_000] });
    const { maxOutputTokens } = d.effect("callModel");
    expect(maxOutputTokens).toBe(4_096 - d.context().contextTokens);
  });
});

describe("from three fifths of the limit on, references replace older results:", () => {
  test("before the next model call, except in the newest turns", () => {
    const d = drive(capped);
    d.look();
    fill(d, { results: [450] });
    expect([d.state(), d.look().started.at(-1)]).toEqual(["execute.trimming", "trim/6"]);
    const { contextTokens } = d.context();
    const trim = d.effect("trim");
    expect(contextTokens / 4_000).toBeGreaterThan(0.6);
    expect(trim).toMatchObject({ step: 6, results: ["1/0", "2/0", "3/0"], tokensBefore: contextTokens });
    expect(d.on(trimmed(trim))).toEqual({ state: "execute.think", started: ["model/6"], stopped: [] });
    expect(d.context().contextTokens).toBe(trim.tokensAfter);
    expect(tokensIn(d)).toBe(trim.tokensAfter);
    const texts = d.context().messages.flatMap(({ role, text }) => (role === "tool" ? [text] : []));
    expect(texts).toEqual([
      '[taken out to make room: 1350 characters]\nTo read it again, call recall with {"result":"1/0"}.',
      '[taken out to make room: 1350 characters]\nTo read it again, call recall with {"result":"2/0"}.',
      '[taken out to make room: 1350 characters]\nTo read it again, call recall with {"result":"3/0"}.',
      words(450),
      words(450),
    ]);
  });

  test("the calls, and whether they failed, remain", () => {
    const d = drive(capped);
    d.feed(reply(1, "looking", [{ ...aToolCall("read", { path: "a" }), id: "a" }]));
    d.feed(toolFinished(1, 0, words(800), { error: anError({ type: "tool_error" }) }));
    fill(d);
    d.feed(trimmed(d.effect("trim")));
    expect(d.context().messages.slice(1, 3)).toMatchObject([
      { role: "assistant", text: "looking", calls: [{ name: "read", args: { path: "a" } }] },
      { role: "tool", callId: "a", name: "read", isError: true, text: expect.stringContaining("taken out") },
    ]);
  });

  test.each<[string, SpecChanges, string, string]>([
    ["a tool that only reads", { tools: tools.slice(0, 2) }, "read", "call read again with the same arguments"],
    ["any other tool", { tools: tools.slice(0, 2) }, "shell", "calling shell again would do its work again"],
  ])("without recall a reference names the alternative: %s", (_, changes, tool, hint) => {
    const d = drive({ ...capped, ...changes });
    fill(d, { tool });
    d.feed(trimmed(d.effect("trim")));
    expect(d.context().messages[2]?.text).toContain(hint);
  });

  test("results hardly longer than a reference remain, and so does all text of the model", () => {
    const d = drive(capped);
    fill(d, { says: 60, results: [30, 400] });
    const before = d.context().messages;
    d.feed(trimmed(d.effect("trim")));
    const after = d.context().messages;
    expect(after.filter((message, at) => message !== before[at]).map(({ text }) => text.length)).toEqual([
      expect.any(Number),
      expect.any(Number),
      expect.any(Number),
    ]);
    expect(after.filter((message) => message.role !== "tool")).toEqual(before.filter(({ role }) => role !== "tool"));
    expect(after.filter(({ text }) => text === words(30))).toHaveLength(4);
  });

  test("rarely, and many at a time, so that the provider's prompt cache stays useful", () => {
    const d = drive({ ...capped, limits: { maxContextTokens: 100_000, maxIterations: 500, maxToolCalls: 500 } });
    const steps: number[] = [];
    const freed: number[] = [];
    for (let i = 0; i < 200; i += 1) {
      take(d, { results: [1_000] });
      if (d.state() !== "execute.trimming") continue;
      const trim = d.effect("trim");
      steps.push(trim.step);
      freed.push((trim.tokensBefore - trim.tokensAfter) / 100_000);
      d.feed(trimmed(trim));
    }
    expect(steps.length).toBeGreaterThan(1);
    expect(steps.length).toBeLessThan(8);
    expect(Math.min(...freed)).toBeGreaterThan(0.2);
  });

  test("each call of a long turn has a reference with its own position", () => {
    const d = drive(capped);
    take(d, { results: [300, 300, 300] });
    fill(d);
    expect(d.effect("trim").results).toEqual(["1/0", "1/1", "1/2", "2/0"]);
  });

  test("a run that was opened before compaction existed continues without it", () => {
    const d = drive({ ...capped, makesRoom: false });
    fill(d);
    expect(d.facts.map(({ type }) => type)).not.toContain("context.trimmed");
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_context" });
  });

  test.each<[string, SpecChanges]>([
    ["its iterations", { limits: { maxContextTokens: 4_000, maxIterations: 6 } }],
    ["its tool calls", { limits: { maxContextTokens: 4_000, maxToolCalls: 5 } }],
  ])("a turn that is the last one, because of %s, reads all results", (_, changes) => {
    const d = drive({ ...capped, ...changes });
    while (d.context().step < 6) take(d, { results: [500] });
    expect([d.state(), d.context().turn?.last]).toEqual(["execute.think", expect.stringMatching(/^max_[it]/)]);
    expect(d.context().contextTokens / 4_000).toBeGreaterThan(0.6);
    expect(d.context().messages.filter(({ text }) => text === words(500))).toHaveLength(5);
  });
});

describe("if references are not enough, a summary replaces the history:", () => {
  test("by one call outside the turns, with a reservation like any other", () => {
    const d = compacting();
    const compact = d.effect("compact");
    const { contextTokens, callReserve, messages } = d.context();
    expect(contextTokens / 4_000).toBeGreaterThan(0.7);
    expect(compact).toMatchObject({ maxOutputTokens: 400, textTokensMax: 600, tokensBefore: contextTokens, kept: 4 });
    expect(callReserve).toEqual({ tokens: contextTokens + 400, costUsd: 0 });
    expect(compact.transcript).toContain("User: count the files\n\nAssistant: ");
    expect(compact.transcript).toContain(`Result 1/0 of read: ${words(100)}`);
    expect(compact.transcript).not.toContain(`Result ${compact.step - 1}/0`);
    expect(d.on(compacted(compact, { text: "all is well" })).state).toBe("execute.think");
    expect(d.context().messages).toEqual([
      { role: "user", text: "count the files" },
      {
        role: "user",
        text: "To make room, the conversation so far gave way to this summary, which you wrote:\n\nall is well",
      },
      ...messages.slice(-4),
    ]);
    expect(d.context().contextTokens).toBe(tokensIn(d));
  });

  test("its usage counts in the run's totals", () => {
    const d = compacting();
    const before = d.context().usage;
    d.feed(compacted(d.effect("compact"), { usage: { inputTokens: 700, outputTokens: 70, costUsd: 0.5 } }));
    const { usage } = d.context();
    expect(usage.own.inputTokens - before.own.inputTokens).toBe(700);
    expect(usage.charged.tokens - before.charged.tokens).toBe(770);
  });

  test.each([
    ["failed: it is charged its reservation", { type: "network" as const }, "whole"],
    ["was refused by the provider: it is free", { type: "rate_limit" as const }, 0],
  ])("a call that %s leads to a truncated history instead", (_, error, charged) => {
    const d = compacting();
    const { callReserve, usage: before } = d.context();
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
    d.feed(compacted(d.effect("compact"), { text: "the end of it", error: anError(error), usage }));
    const whole = callReserve?.tokens ?? 0;
    expect(d.context().usage.charged.tokens - before.charged.tokens).toBe(charged === "whole" ? whole : charged);
    expect(d.context().messages[1]?.text).toBe(
      "To make room, the conversation so far was cut. This is the end of what was cut:\n\nthe end of it",
    );
    expect(d.state()).toBe("execute.think");
  });

  test("without budget for a call the history is truncated", () => {
    const d = drive({ ...capped, budget: { tokens: 7_000 } });
    for (let i = 0; i < 5; i += 1) take(d, { says: 300, results: [100] });
    take(d, { results: [1_000] });
    expect(d.effect("compact").maxOutputTokens).toBe(0);
    expect(d.context().callReserve).toBeNull();
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
    d.feed(compacted(d.effect("compact"), { text: "the end", error: anError({ type: "budget" }), usage }));
    expect(d.context().usage.lost.tokens).toBe(0);
  });

  test("references after it keep counting: a result belongs to its step", () => {
    const d = compacting();
    d.feed(compacted(d.effect("compact")));
    const next = d.effect("callModel").step;
    fill(d, { results: [500] });
    expect(d.effect("trim").results).toContain(`${next}/0`);
    expect(d.effect("trim").results.every((reference) => Number(reference.split("/")[0]) >= next - 2)).toBe(true);
  });

  test("a later summary includes the earlier one", () => {
    const d = compacting();
    d.feed(compacted(d.effect("compact"), { text: "the first" }));
    fill(d, { says: 300, results: [100] });
    expect(d.effect("compact").transcript).toContain("the first");
    d.feed(compacted(d.effect("compact"), { text: "the second" }));
    const texts = d.context().messages.map(({ text }) => text);
    expect(texts[0]).toBe("count the files");
    expect(texts.filter((text) => /the first|the second/.test(text))).toEqual([expect.stringContaining("the second")]);
  });

  test("thinking of the remaining turns stays, earlier thinking goes", () => {
    const d = drive(capped);
    const thought = (step: number) => ({
      provider: "p",
      model: "m",
      textBefore: 0,
      callsBefore: 0,
      block: { type: "thinking", signature: `s${step}` },
    });
    while (d.state() === "execute.think") {
      const { step } = d.effect("callModel");
      const answer = reply(step, words(300), [aToolCall("read", { step })]);
      d.feed({ ...answer, reply: { ...answer.reply, thinking: [thought(step)] } });
      d.feed(toolFinished(step, 0, words(100)));
    }
    const last = d.context().step;
    d.feed(compacted(d.effect("compact")));
    const left = d
      .context()
      .messages.flatMap((message) => (message.role === "assistant" ? (message.thinking ?? []) : []));
    expect(left).toEqual([thought(last - 1), thought(last)]);
    expect(d.context().contextTokens).toBe(tokensIn(d));
    const told = d.context().messages.map((message) => ({ ...message, thinking: undefined }) as unknown as Message);
    expect(d.context().contextTokens).toBeGreaterThan(
      emptyConversation(d.context().pin).contextTokens + tokensOf(told) + 2 * 20,
    );
  });

  test("a run that then ends in the middle of a turn has the summary as its details", () => {
    const d = drive(capped);
    d.feed(reply(1, "I begin", [aToolCall("read")]));
    d.feed(toolFinished(1, 0, "x"));
    // Many short results: too short for references, and the model says no word.
    while (d.state() === "execute.think") take(d, { results: Array<number>(5).fill(60) });
    d.feed(compacted(d.effect("compact"), { text: "three are found" }));
    d.feed(timerFired("deadline"));
    expect(d.response()).toMatchObject({ status: "timeout", details: "three are found" });
  });
});

describe("compaction ends:", () => {
  test("a summary that would free next to nothing is not requested", () => {
    const d = drive(capped);
    take(d, { says: 300, results: [10] });
    take(d, { says: 300, results: [10] });
    // Only the first two turns could go, and their summary may be as long.
    take(d, { results: [2_200] });
    expect(d.context().contextTokens / 4_000).toBeGreaterThan(0.7);
    expect(d.facts.map(({ type }) => type)).not.toContain("context.compacted");
    expect([d.state(), d.context().turn?.last]).toEqual(["execute.think", null]);
  });

  test("a conversation that cannot shrink continues to its last turn, and bails out", () => {
    const d = drive(capped);
    take(d, { results: [3_200] });
    expect([d.state(), d.context().turn?.last]).toEqual(["execute.think", "max_context"]);
    d.feed(reply(2, "half", [aToolCall("read")]));
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_context", details: "half" });
  });

  test.each([0, 4])("one result over the limit ends the run, and no summary of %i turns is paid for", (turns) => {
    const d = drive(capped);
    for (let i = 0; i < turns; i += 1) take(d, { says: 400, results: [10] });
    take(d, { results: [5_000] });
    expect(d.facts.map(({ type }) => type)).not.toContain("context.compacted");
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_context" });
  });

  test("a summary as long as its source is not requested again before the next turn", () => {
    const d = compacting();
    const { step } = d.effect("compact");
    d.feed(compacted(d.effect("compact"), { text: words(3_000) }));
    expect(d.pendingKeys()).not.toContain(`compact/${step}`);
    expect(["execute.think", "respond.settling"]).toContain(d.state());
  });

  test("a repeated turn does not compact twice", () => {
    const d = drive(capped);
    fill(d);
    const { step } = d.effect("trim");
    d.feed(trimmed(d.effect("trim")));
    d.feed(commanded({ kind: "run.steered", text: words(1_500) }));
    d.feed(modelFailed(step, { type: "rate_limit" }));
    d.look();
    d.feed(timerFired(`rate/${step}/1`));
    expect(d.look().started).not.toContain(`trim/${step}`);
  });

  test("an outcome for another turn is ignored", () => {
    const d = drive(capped);
    fill(d);
    const before = d.context();
    expect(d.on(trimmed({ ...d.effect("trim"), step: 9 })).state).toBe("execute.trimming");
    expect(d.context()).toEqual(before);
  });
});

describe("compaction happens between two turns:", () => {
  test("a command comes first: a paused run does not compact", () => {
    const d = drive(capped);
    const { step } = d.effect("callModel");
    for (let i = 1; i < 5; i += 1) take(d, { results: [500] });
    d.feed(reply(step + 4, "", [aToolCall("read", { last: true })]));
    d.feed(commanded({ kind: "run.paused" }));
    d.look();
    expect(d.on(toolFinished(step + 4, 0, words(400)))).toEqual({ state: "execute.paused", started: [], stopped: [] });
    expect(d.on(commanded({ kind: "run.resumed" })).state).toBe("execute.trimming");
  });

  test("a summary that was lost with its host is charged, and requested again", () => {
    const d = compacting();
    const { callReserve, usage } = d.context();
    const { step } = d.effect("compact");
    d.look();
    expect(d.on(claimed())).toMatchObject({
      state: "execute.compacting",
      stopped: [`compact/${step}`, "timer/deadline"],
      started: ["timer/deadline", `compact/${step}`],
    });
    const lost = d.context().usage.lost.tokens - usage.lost.tokens;
    expect(lost).toBe(callReserve?.tokens);
    d.feed(compacted(d.effect("compact")));
    expect(d.state()).toBe("execute.think");
  });

  test("a run that is cancelled during it ends, and its reservation is charged", () => {
    const d = compacting();
    const { step } = d.effect("compact");
    const { callReserve, usage } = d.context();
    expect(d.on(cancelled()).stopped).toContain(`compact/${step}`);
    expect(d.response().metrics.charged.tokens).toBe(usage.charged.tokens + (callReserve?.tokens ?? 0));
  });

  test.each(["trim", "compact"])("a replay of the journal has the same conversation: %s", (kind) => {
    const d = kind === "trim" ? drive(capped) : compacting();
    if (kind === "trim") fill(d);
    d.feed(kind === "trim" ? trimmed(d.effect("trim")) : compacted(d.effect("compact"), { text: "so far" }));
    const again = drive(capped);
    again.replay(d.facts);
    expect(again.context()).toEqual(d.context());
    expect(again.pendingKeys()).toEqual(d.pendingKeys());
  });
});

describe("the conversation of earlier turns of the session", () => {
  const long: Message[] = Array.from({ length: 6 }, (_, turn): Message[] => [
    { role: "user", text: `question ${turn}` },
    { role: "assistant", text: `${turn}`, calls: [{ ...aToolCall("read"), id: `h${turn}` }] },
    { role: "tool", callId: `h${turn}`, name: "read", text: words(400), isError: false },
    { role: "assistant", text: `answer ${turn}`, calls: [] },
  ]).flat();

  test("comes before the request in the model's messages", () => {
    const history = long.slice(0, 4);
    const d = drive({ ...capped, history });
    expect(d.effect("callModel").messages).toEqual([...history, { role: "user", text: "count the files" }]);
    expect(d.context().contextTokens).toBe(tokensIn(d));
  });

  test("may have been compacted itself: its references do not belong to this run", () => {
    const before = drive(capped);
    fill(before);
    before.feed(trimmed(before.effect("trim")));
    const summedUp = compacting();
    summedUp.feed(compacted(summedUp.effect("compact"), { text: "see 1/0" }));
    const d = drive({ tools, history: [...before.context().messages, ...summedUp.context().messages] });
    const texts = d.context().messages.map(({ text }) => text);
    expect(texts.filter((text) => text.startsWith("[taken out"))).toEqual(
      Array(4).fill(
        "[taken out to make room: 1200 characters]\nTo read it again, call read again with the same arguments.",
      ),
    );
    expect(texts.find((text) => text.includes("see 1/0"))).toMatch(/cannot be recalled any more/);
    const later = drive({ tools, history: [...d.context().messages] });
    expect(later.context().messages.slice(0, -1)).toEqual(d.context().messages);
  });

  test("does not count as a message of this run", () => {
    const d = drive({ ...capped, history: long.slice(0, 4) });
    d.feed(timerFired("deadline"));
    expect(d.response().details).not.toContain("answer 0");
  });

  test("loses its oldest results first, and steps of this run cannot recall them", () => {
    const d = drive({ ...capped, history: long });
    expect(d.effect("trim")).toMatchObject({ step: 1, results: ["0/2", "0/6", "0/10", "0/14"] });
    d.feed(trimmed(d.effect("trim")));
    expect(d.context().messages[2]?.text).toMatch(/call read again with the same arguments/);
    expect(d.context().messages.at(-1)).toEqual({ role: "user", text: "count the files" });
    take(d, { results: [10] });
    expect(d.state()).toBe("execute.think");
  });

  test("is summarised before the run's own turns, and the request stays behind the summary", () => {
    const talk = Array.from({ length: 10 }, (_, turn): Message[] => [
      { role: "user", text: `question ${turn}` },
      { role: "assistant", text: words(300), calls: [] },
    ]).flat();
    const d = drive({ ...capped, history: talk });
    d.feed(compacted(d.effect("compact"), { text: "they talked" }));
    const { messages, requestIndex } = d.context();
    expect(messages.map(({ role, text }) => `${role}: ${text.slice(0, 15)}`)).toEqual([
      "user: To make room, t",
      "user: question 7",
      "assistant: abcabcabcabcabc",
      "user: question 8",
      "assistant: abcabcabcabcabc",
      "user: question 9",
      "assistant: abcabcabcabcabc",
      "user: count the files",
    ]);
    expect(messages[requestIndex]?.text).toBe("count the files");
    fill(d, { says: 300, results: [50] });
    d.feed(compacted(d.effect("compact"), { text: "they worked" }));
    expect(
      d
        .context()
        .messages.slice(0, 2)
        .map(({ text }) => text),
    ).toEqual(["count the files", expect.stringContaining("they worked")]);
    expect(d.context().requestIndex).toBe(0);
  });
});

test("a child with the full context gets the remaining conversation, and no references to results of another run", () => {
  const d = drive(capped);
  fill(d);
  d.feed(trimmed(d.effect("trim")));
  const { step } = d.effect("callModel");
  d.feed(reply(step, "", [aBatch([{ context: "full" }])]));
  const { context } = d.effect("runChild").request;
  expect(context).toContain("Result of read: [taken out to make room: 1200 characters]\n\nAssistant");
  expect(context).toContain(words(400));
  expect(context).not.toMatch(/recall/);
});

test("a thousand messages are scanned at most a hundred times each", () => {
  const readsPerMessage = (turns: number): number => {
    const d = drive(capped);
    take(d);
    const { messages } = d.context();
    let reads = 0;
    const count = (target: Message, key: string | symbol): unknown => {
      reads += 1;
      return Reflect.get(target, key);
    };
    const many = Array.from({ length: turns }, () => messages.slice(1))
      .flat()
      .map((message) => new Proxy(message, { get: count }));
    const context = { ...d.context(), messages: [...messages.slice(0, 1), ...many], lastReplyStep: turns };
    trimmedConversation(context, planTrim(context));
    planCompaction(context);
    return reads / many.length;
  };
  expect(readsPerMessage(50)).toBeGreaterThan(5);
  expect(readsPerMessage(500)).toBeCloseTo(readsPerMessage(50), 0);
});
