/** Journal entries: sealed, read back, and told apart from what was tampered with. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  anError,
  answered,
  aPin,
  aRequest,
  aResponse,
  aToolCall,
  cancelled,
  childSettled,
  claimed,
  intentAssessed,
  modelFailed,
  reply,
  run,
  session,
  settledWith,
  timerFired,
  toolFinished,
  verified,
} from "../machines/samples.test-helper.ts";
import { type EntryBody, type EntryHead, entryIsIntact, isTerminal, openEntry, sealEntry } from "./entry.ts";
import { hashText } from "./hash.ts";

const head: EntryHead = { v: 1, session, run, index: 3, epoch: 1, host: "h1", at: 12, prev: "0".repeat(64) };

const bodies: EntryBody[] = [
  { kind: "run.opened", request: aRequest(), pin: aPin() },
  claimed(),
  { kind: "run.parked", reason: "drain" },
  intentAssessed("low"),
  reply(1, "hi", [aToolCall("read", { path: "ü😀" })]),
  modelFailed(1),
  { kind: "tool.started", step: 1, call: 0, tool: "shell", argsHash: "x" },
  toolFinished(1, 0, "out", { error: anError() }),
  childSettled(1, 0),
  timerFired("deadline"),
  cancelled(),
  answered(true),
  verified(1, ["no"]),
  settledWith(aResponse()),
];

describe.each(bodies.map((body) => [body.kind, body] as const))("%s", (kind, body) => {
  test("what was sealed is read back, under its own head", () => {
    const sealed = sealEntry(head, body);
    expect(openEntry(sealed.text)).toEqual({ ...body, ...head, hash: sealed.hash });
    expect([sealed.index, entryIsIntact(sealed.text)]).toEqual([3, true]);
  });

  test("only run.settled ends a run", () => {
    expect(isTerminal(body)).toBe(kind === "run.settled");
  });
});

test("a settled child's entry stands in its parent's journal and names the child", () => {
  const entry = openEntry(sealEntry(head, childSettled(1, 0)).text);
  expect(entry.run).toBe(run);
  expect(entry.kind === "child.settled" && entry.response.runId).not.toBe(run);
});

test("a body cannot pass itself off as another's", () => {
  const forged = { ...timerFired("x"), run: "00000000-0000-7000-8000-00000000ffff", index: 99, epoch: 9, hash: "no" };
  const { hash, text } = sealEntry(head, forged);
  expect(openEntry(text)).toMatchObject({ run, index: 3, epoch: 1, hash });
});

test("the hash covers every byte before it, and the entry before", () => {
  const sealed = sealEntry(head, timerFired("deadline"));
  expect(sealed.hash).toBe(hashText(`${sealed.text.slice(0, -`,"hash":"${sealed.hash}"}`.length)}}`));
  expect(sealEntry({ ...head, prev: "1".repeat(64) }, timerFired("deadline")).hash).not.toBe(sealed.hash);
});

describe("tampering", () => {
  test("a change of any one byte is seen", () => {
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

  test("so is anything cut off, put in or left", () => {
    const { text } = sealEntry(head, timerFired("deadline"));
    for (const other of [text.slice(1), text.slice(0, -1), `${text} `, ` ${text}`, "", "{}", text + text]) {
      expect(entryIsIntact(other)).toBe(false);
    }
  });

  test("no text that was not sealed passes, and none throws", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !entryIsIntact(text)));
  });
});

describe("hostile content", () => {
  test("keys such as __proto__ change no prototype and break no hash", () => {
    const args = JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"path":"a"}');
    const sealed = sealEntry(head, reply(1, "", [aToolCall("read", args)]));
    expect(entryIsIntact(sealed.text)).toBe(true);
    const entry = openEntry(sealed.text);
    const [call] = entry.kind === "model.replied" ? entry.reply.calls : [];
    const read = Object(call?.args) as { path?: unknown; admin?: unknown };
    expect([read.path, read.admin]).toEqual(["a", undefined]);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test("half characters are kept out of the hash's way", () => {
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
