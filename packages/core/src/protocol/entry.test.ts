/** Journal entries: sealed, opened, and checked for tampering. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  anError,
  answered,
  approvalRequested,
  aRequest,
  aResponse,
  aSpec,
  aToolCall,
  cancelled,
  checkedChildren,
  childSettled,
  childWaiting,
  claimed,
  commanded,
  intentAssessed,
  modelFailed,
  reply,
  run,
  session,
  settledWith,
  timerFired,
  toolFinished,
  verified,
} from "../machines/fixtures.test-helper.ts";
import { anyText } from "../text/any-text.test-helper.ts";
import { approvalId, wholeRunStep } from "./approval.ts";
import { EntryBody, type EntryHead, entryIsIntact, isTerminal, openEntry, RunSpec, sealEntry } from "./entry.ts";
import { canonicalJson, hashText } from "./hash.ts";
import { childRunId } from "./ids.ts";

const head: EntryHead = { v: 1, session, run, index: 3, epoch: 1, host: "h1", at: 12, prev: "0".repeat(64) };

const usage = { inputTokens: 7, outputTokens: 2, cachedTokens: 0, costUsd: null };
const question = approvalRequested(2, 1).approval;

const planned: EntryBody & { kind: "calls.planned" } = {
  kind: "calls.planned",
  step: 2,
  children: [
    {
      call: 0,
      item: 1,
      run: childRunId({ parentRun: run, step: 2, call: 0, item: 1, attempt: 1 }),
      agent: "helper",
      task: "count them",
      name: "second",
      after: ["first"],
      contextMode: "summary",
      maxAttempts: 2,
    },
  ],
  refused: [{ call: 1, tool: "delegate", error: anError({ type: "permission", recoverable: false }) }],
};
const summarised = { kind: "context.summarised" as const, step: 2, text: "so far", usage, error: null, durationMs: 5 };

const trimmed = {
  kind: "context.trimmed" as const,
  step: 3,
  results: ["1/0", "2/1"],
  tokensBefore: 900,
  tokensAfter: 300,
};
const compacted = {
  ...summarised,
  kind: "context.compacted" as const,
  kept: 4,
  tokensBefore: 900,
  tokensAfter: 300,
};

const checkedChild = {
  ...{ child: childRunId({ parentRun: run, step: 2, call: 0, item: 1, attempt: 1 }), agent: "helper", task: "count" },
  ...{ response: aResponse(), verifier: { name: "files-exist", params: {}, agent: null, words: [] } },
};

const bodies: EntryBody[] = [
  { kind: "run.opened", request: aRequest(), pin: aSpec({ budget: { tokens: 1_000, costUsd: 0.5 } }) },
  claimed(),
  { kind: "run.parked", reason: "drain" },
  { kind: "run.parked", reason: "approval" },
  { kind: "run.parked", reason: "pause" },
  intentAssessed("low"),
  { ...intentAssessed("high"), usage } as EntryBody,
  reply(1, "hi", [aToolCall("read", { path: "ü😀" }), { ...aToolCall("shell"), problem: "no JSON" }]),
  modelFailed(1),
  { kind: "tool.started", step: 1, call: 0, tool: "shell", argsHash: "x", plan: null },
  toolFinished(1, 0, "out", { error: anError() }),
  planned,
  summarised,
  { ...summarised, error: anError({ type: "model" }) },
  trimmed,
  compacted,
  { ...compacted, error: anError({ type: "budget" }) },
  approvalRequested(2, 1),
  approvalRequested(wholeRunStep, 0, null),
  childSettled(1, 0),
  childSettled(1, 0, { charged: { tokens: 9, costUsd: null } }, 2, 3),
  childWaiting(1, 0, true),
  childWaiting(1, 0, false, 2),
  {
    kind: "children.checked",
    round: 1,
    results: [{ child: aRequest().run, agent: "a", verifier: "v", failures: ["f"] }],
  },
  timerFired("deadline"),
  cancelled(),
  answered(question.id, true),
  answered(question.id, false, { scope: "run", reason: "not here" }),
  commanded({ kind: "run.cancelled", reason: "enough" }),
  commanded({ kind: "run.steered", text: "the tests first" }),
  commanded({ kind: "run.paused" }),
  commanded({ kind: "run.resumed" }),
  checkedChildren({ round: 1, checks: [checkedChild] }, ["it is missing"]),
  verified(1, ["no"]),
  settledWith(aResponse()),
];

test("every kind has an example here", () => {
  const kinds = EntryBody.options.map((option) => option.shape.kind.value);
  expect(new Set(bodies.map(({ kind }) => kind))).toEqual(new Set(kinds));
});

describe.each(bodies.map((body) => [body.kind, body] as const))("%s", (kind, body) => {
  test("a sealed entry is opened again, under its own head", () => {
    const sealed = sealEntry(head, body);
    expect(openEntry(sealed.text)).toEqual({ ...body, ...head, hash: sealed.hash });
    expect([sealed.index, entryIsIntact(sealed.text)]).toEqual([3, true]);
  });

  test("only run.settled ends a run", () => {
    expect(isTerminal(body)).toBe(kind === "run.settled");
  });
});

test("a settled child's entry is in its parent's journal and names the child", () => {
  const entry = openEntry(sealEntry(head, childSettled(1, 0)).text);
  expect(entry.run).toBe(run);
  expect(entry.kind === "child.settled" && entry.response.runId).not.toBe(run);
});

test("a body with another kind is refused", () => {
  const forged = { ...timerFired("x"), run: "00000000-0000-7000-8000-00000000ffff", index: 99, epoch: 9, hash: "no" };
  const { hash, text } = sealEntry(head, forged);
  expect(openEntry(text)).toMatchObject({ run, index: 3, epoch: 1, hash });
});

test("the hash covers every byte before it, and the previous entry", () => {
  const sealed = sealEntry(head, timerFired("deadline"));
  expect(sealed.hash).toBe(hashText(`${sealed.text.slice(0, -`,"hash":"${sealed.hash}"}`.length)}}`));
  expect(sealEntry({ ...head, prev: "1".repeat(64) }, timerFired("deadline")).hash).not.toBe(sealed.hash);
});

describe("an entry is read as it was written", () => {
  /** A key that would be a prototype is dropped where a model's reply is read, long before an entry is written. */
  const isPlain = (value: unknown): boolean => !JSON.stringify(value).includes('"__proto__"');
  const error = fc.option(fc.string({ unit: "grapheme" }).map((message) => anError({ message })));
  const text = fc.string({ unit: "grapheme" });
  const place = { step: fc.integer({ min: 1, max: 500 }), call: fc.nat(200), item: fc.nat(200) };
  const children = fc.array(
    fc.record({
      call: place.call,
      item: place.item,
      run: fc.uuid({ version: 8 }),
      agent: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
      task: text,
      name: text,
      after: fc.array(text, { maxLength: 3 }),
      contextMode: fc.constantFrom("task_only" as const, "summary" as const, "full" as const, "selective" as const),
      maxAttempts: fc.integer({ min: 1, max: 10 }),
    }),
    { maxLength: 3 },
  );
  const refused = fc.array(fc.record({ call: place.call, tool: text, error: error.map((some) => some ?? anError()) }), {
    maxLength: 3,
  });
  const kindOf = <K extends EntryBody["kind"]>(kind: K) => fc.constant(kind);
  const anyBody: fc.Arbitrary<EntryBody> = fc.oneof(
    fc.record({ kind: kindOf("calls.planned"), step: place.step, children, refused }),
    fc.record({
      kind: kindOf("context.summarised"),
      step: place.step,
      text,
      usage: fc.record({
        inputTokens: fc.nat(),
        outputTokens: fc.nat(),
        cachedTokens: fc.nat(),
        costUsd: fc.option(fc.nat(1_000).map((cents) => cents / 100)),
      }),
      error,
      durationMs: fc.nat(),
    }),
    fc.record({
      kind: kindOf("approval.requested"),
      step: fc.nat(500),
      call: place.call,
      approval: fc.record({
        id: fc.uuid({ version: 8 }),
        tool: fc.option(text),
        args: fc.jsonValue().map((args) => JSON.parse(JSON.stringify(args))),
        risk: fc.constantFrom("low" as const, "medium" as const, "high" as const),
        reason: text,
        path: fc.array(fc.stringMatching(/^[a-z_-]{1,9}$/), { maxLength: 3 }),
      }),
    }),
    fc.record({
      kind: kindOf("child.waiting"),
      ...place,
      attempt: fc.integer({ min: 1, max: 9 }),
      waiting: fc.boolean(),
    }),
    fc.record({
      kind: kindOf("run.parked"),
      reason: fc.constantFrom("drain" as const, "approval" as const, "pause" as const),
    }),
    fc
      .record({ ...place, attempt: fc.integer({ min: 1, max: 9 }), tokens: fc.nat() })
      .map(({ step, call, item, attempt, tokens }) => childSettled(step, call, { charged: { tokens } }, attempt, item)),
    fc.constantFrom(...bodies),
  );

  test("of every kind, with any text in it", () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        fc.pre(isPlain(body));
        const sealed = sealEntry(head, body);
        expect(entryIsIntact(sealed.text)).toBe(true);
        expect(openEntry(sealed.text)).toEqual({ ...body, ...head, hash: sealed.hash });
      }),
      { numRuns: 1_000 },
    );
  });

  test("with the approval that its id belongs to", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const args = JSON.parse(JSON.stringify(value));
        fc.pre(isPlain(args));
        const { approval, ...asked } = approvalRequested(2, 1);
        const idOf = (of: unknown): string =>
          approvalId({ run, step: 2, call: 1, argsHash: hashText(canonicalJson(of)) });
        const sealed = sealEntry(head, { ...asked, approval: { ...approval, args, id: idOf(args) } });
        const read = openEntry(sealed.text);
        expect(read.kind === "approval.requested" && idOf(read.approval.args) === read.approval.id).toBe(true);
      }),
    );
  });
});

describe("an entry of an older version", () => {
  const open = (body: object) => openEntry(sealEntry(head, body as EntryBody).text);
  const without = (body: object, ...names: string[]): object =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));

  test.each([
    ["from before batches: the only child of its call", without(childSettled(1, 0), "item"), { item: 0 }],
    ["from before assessments had a cost", without(intentAssessed("low"), "usage"), { usage: null }],
    [
      "from before calls had problems",
      reply(1, "", [without(aToolCall("read"), "problem") as never]),
      {
        reply: { calls: [{ problem: null }] },
      },
    ],
  ])("%s", (_, body, says) => {
    expect(open(body)).toMatchObject(says);
  });

  test("from before budgets: its run has none, and its targets have no additional fields", () => {
    const pin = aSpec({ targets: ["helper"] });
    const [target] = pin.targets;
    const old = {
      ...without(pin, "budget", "price", "temperature"),
      targets: [without(target ?? {}, "contextMode", "promptFrom", "domain", "budget")],
    };
    expect(RunSpec.parse(old)).toEqual(pin);
  });

  test("from before layers: its grant is one layer", () => {
    const request = { ...without(aRequest(), "layers"), grant: { tools: ["read"], agents: [], writes: [] } };
    const entry = open({ kind: "run.opened", request, pin: aSpec() });
    expect(entry).toMatchObject({ request: { layers: [{ tools: ["read"], agents: [] }] } });
  });
});

describe("an entry is refused", () => {
  test.each([
    ["a plan of a child without a run", { ...planned, children: [{ ...planned.children[0], run: "x" }] }],
    ["a plan of a child without attempts", { ...planned, children: [{ ...planned.children[0], maxAttempts: 0 }] }],
    ["a plan before the first step", { ...planned, step: 0 }],
    ["a refusal without a reason", { ...planned, refused: [{ call: 0, tool: "delegate" }] }],
    ["a summary without a usage", { ...summarised, usage: undefined }],
    ["a question before the run", { ...approvalRequested(2, 1), step: -1 }],
    ["a question without a tool and a run", { ...approvalRequested(2, 1), approval: null }],
    ["a child with an invalid wait", { ...childWaiting(1, 0, true), waiting: undefined }],
    ["a child without a position in its batch", childWaiting(1, 0, true, -1)],
    ["a run parked for an unknown reason", { kind: "run.parked", reason: "lunch" }],
  ])("%s", (_, body) => {
    expect(EntryBody.safeParse(body).success).toBe(false);
  });
});

describe("tampering is detected:", () => {
  test("a change of any byte", () => {
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.nat(), fc.integer({ min: 1, max: 255 }), (body, where, flip) => {
        const bytes = encoder.encode(sealEntry(head, body).text);
        const at = where % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        expect(entryIsIntact(new TextDecoder().decode(bytes))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("a truncation, an insertion or an omission", () => {
    const { text } = sealEntry(head, timerFired("deadline"));
    for (const other of [text.slice(1), text.slice(0, -1), `${text} `, ` ${text}`, "", "{}", text + text]) {
      expect(entryIsIntact(other)).toBe(false);
    }
  });

  test("no unsealed text is accepted, and none throws", () => {
    fc.assert(fc.property(anyText, (text) => void expect(entryIsIntact(text)).toBe(false)));
  });
});

describe("hostile content", () => {
  test("keys such as __proto__ change no prototype and keep the hash valid", () => {
    const args = JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"path":"a"}');
    const sealed = sealEntry(head, reply(1, "", [aToolCall("read", args)]));
    expect(entryIsIntact(sealed.text)).toBe(true);
    const entry = openEntry(sealed.text);
    const [call] = entry.kind === "model.replied" ? entry.reply.calls : [];
    const read = Object(call?.args) as { path?: unknown; admin?: unknown };
    expect([read.path, read.admin]).toEqual(["a", undefined]);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test("lone surrogates are replaced before the hash", () => {
    const sealed = sealEntry(head, toolFinished(1, 0, "\ud83d"));
    expect(entryIsIntact(sealed.text)).toBe(true);
    expect(openEntry(sealed.text)).toMatchObject({ outcome: { output: "\ud83d" } });
  });

  test.each([
    ["no kind", '{"v":1}'],
    ["an unknown kind", JSON.stringify({ ...head, kind: "run.flew", hash: "x" })],
    ["a broken head", JSON.stringify({ ...head, index: -1, kind: "timer.fired", timer: "x", hash: "x" })],
    ["no hash", JSON.stringify({ ...head, kind: "timer.fired", timer: "x" })],
    ["another version", JSON.stringify({ ...head, v: 2, kind: "timer.fired", timer: "x", hash: "x" })],
  ])("%s is refused", (_, text) => {
    expect(() => openEntry(text)).toThrow(expect.objectContaining({ code: "INVALID_MESSAGE" }));
  });
});
