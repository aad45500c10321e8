/** Inbox items survive storage unchanged. */
import { describe, expect, test } from "vitest";
import { aRequest, run, session } from "../machines/fixtures.test-helper.ts";
import { decode, encode } from "./codec.ts";
import { InboxItem } from "./inbox.ts";

const head = { v: 1 as const, at: 5, session };
const approval = "00000000-0000-8000-8000-00000000cccc";

const items: InboxItem[] = [
  { ...head, kind: "session.requested", request: aRequest(), origin: "cli", demo: false },
  { ...head, kind: "session.continued", request: aRequest({ continues: run }), origin: "page", demo: false },
  { ...head, kind: "session.cancelled", reason: "enough" },
  { ...head, kind: "run.cancelled", run, reason: "wrong way" },
  { ...head, kind: "run.steered", run, text: "look at the tests first", by: "ada" },
  { ...head, kind: "run.paused", run, by: "ada" },
  { ...head, kind: "run.resumed", run, by: "ada" },
  { ...head, kind: "approval.answered", run, approval, approved: true, scope: "rule", reason: "fine", by: "ada" },
  {
    ...{ ...head, kind: "undo.planned", run, undo: approval, by: "ada", step: 2, redoes: run },
    files: [{ path: "a", before: "0a", after: null, beforeRef: "0a", typeBefore: "executable", modeBefore: 0o700 }],
  },
  { ...head, kind: "undo.finished", run, undo: approval, files: [{ path: "a", state: "left", reason: "changed" }] },
];
const [requested, , sessionCancelled, runCancelled, steered, paused, , answered] = items;

test("every kind has an example here", () => {
  const kinds = InboxItem.options.map((option) => option.shape.kind.value);
  expect(items.map(({ kind }) => kind)).toEqual(kinds);
});

test.each(items.map((item) => [item.kind, item] as const))("%s is parsed unchanged", (_, item) => {
  expect(decode(InboxItem, encode(item), "inbox item")).toEqual(item);
});

test("an answer without a scope is for this call alone", () => {
  const { scope: _scope, reason: _reason, ...input } = answered as InboxItem & { kind: "approval.answered" };
  expect(InboxItem.parse(input)).toEqual({ ...input, scope: "once", reason: null });
});

describe("a command is refused", () => {
  test.each([
    ["an answer without a question", { ...answered, approval: undefined }],
    ["an answer without a decision", { ...answered, approved: undefined }],
    ["an answer without an author", { ...answered, by: undefined }],
    ["an answer with an unknown scope", { ...answered, scope: "always" }],
    ["a message without text", { ...steered, text: "" }],
    ["a message without an author", { ...steered, by: undefined }],
    ["a pause without a run", { ...paused, run: undefined }],
    ["a cancel of a run that has no id", { ...runCancelled, run: "all" }],
    ["a cancel without a reason", { ...sessionCancelled, reason: undefined }],
    ["a session without a request", { ...requested, request: undefined }],
    ["an unknown kind", { ...paused, kind: "run.stopped" }],
    ["another version", { ...paused, v: 2 }],
    ["another session with an invalid id", { ...paused, session: "s" }],
  ])("%s", (_, input) => {
    expect(InboxItem.safeParse(input).success).toBe(false);
  });
});
