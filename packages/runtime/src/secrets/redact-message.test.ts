/** A redacted message always fits its schema. */
import { createRedactor, EntryBody, InboxItem, LiveEvent, RunRequest } from "@troupe/core";
import fc from "fast-check";
import { expect, it, test } from "vitest";
import { rootRequest } from "../host/host-deps.test-helper.ts";
import { redactEntry, redactMessage, redactMessageBytes } from "./redact-message.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const { session } = rootRequest({ run });
const request = rootRequest({
  run,
  agent: "general-purpose",
  chain: ["a-main-agent"],
  task: "task of general-purpose",
});
const bodies: EntryBody[] = [
  { kind: "tool.started", step: 1, call: 0, tool: "general-purpose", argsHash: "x", plan: null },
  { kind: "inbox.received", seq: 1, item: { v: 1, kind: "run.resumed", at: 1, session, run, by: "general-purpose" } },
  {
    kind: "model.failed",
    step: 1,
    error: { type: "rate_limit", message: "rate_limit", tool: null, recoverable: true, retryAfterMs: null },
    durationMs: 1,
  },
];

/** Words that are names in these messages too. */
const words = [
  "general-purpose",
  "a-main-agent",
  "inbox.received",
  "tool.started",
  "rate_limit",
  session,
  run,
  "run.resumed",
  "task_only",
];

test("a message stays valid if any of its words is a secret", () => {
  fc.assert(
    fc.property(fc.subarray(words, { minLength: 1 }), (secrets) => {
      const redact = createRedactor({ values: secrets.map((value, i) => ({ name: `K${i}`, value })) });
      for (const body of bodies) expect(EntryBody.safeParse(redactEntry(body, redact)).error).toBeUndefined();
      expect(RunRequest.safeParse(redactMessage(RunRequest, request, redact)).error).toBeUndefined();
    }),
  );
});

it("a name stays, other text is redacted", () => {
  const redact = createRedactor({ values: [{ name: "K", value: "general-purpose" }] });
  const { agent, task } = redactMessage(RunRequest, request, redact);
  expect({ agent, task }).toEqual({ agent: "general-purpose", task: "task of [redacted: K]" });
});

it("a message without secrets stays the same, also as bytes", () => {
  const redact = createRedactor();
  expect(redactMessage(RunRequest, request, redact)).toBe(request);
  const bytes = Buffer.from(JSON.stringify({ v: 1, kind: "run.claimed", session, run, agent: "main" }));
  expect(redactMessageBytes(LiveEvent, bytes, redact)).toBe(bytes);
});

it("bytes that are not such a message are redacted as text", () => {
  const redact = createRedactor({ values: [{ name: "K", value: "key-0123456789" }] });
  expect(Buffer.from(redactMessageBytes(InboxItem, Buffer.from('{"cut key-0123456789'), redact)).toString()).toBe(
    '{"cut [redacted: K]',
  );
});
