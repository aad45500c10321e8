/** Which wishes reach which runs: a run's own, those about anybody above it, and never those about anybody else. */
import type { InboxItem } from "@troupe/core";
import { expect, test } from "vitest";
import { rootRequest } from "./host-deps.test-helper.ts";
import { concernsRun } from "./inbox.ts";

const [root, lead, run, other] = ["1", "2", "3", "4"].map((n) => `0198a000-0000-7000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
];
const request = rootRequest({ run, ancestors: [root, lead] });
const head = { v: 1 as const, at: 1, session: request.session };
const by = "a person";

const about = {
  "run.cancelled": (id: string): InboxItem => ({ ...head, kind: "run.cancelled", run: id, reason: "enough" }),
  "run.paused": (id: string): InboxItem => ({ ...head, kind: "run.paused", run: id, by }),
  "run.resumed": (id: string): InboxItem => ({ ...head, kind: "run.resumed", run: id, by }),
  "run.steered": (id: string): InboxItem => ({ ...head, kind: "run.steered", run: id, text: "left", by }),
  "approval.answered": (id: string): InboxItem => ({
    ...head,
    kind: "approval.answered",
    run: id,
    approval: other,
    approved: true,
    scope: "once",
    reason: null,
    by,
  }),
};

test.for([
  { kind: "run.cancelled", reaches: { root: true, lead: true, run: true, other: false } },
  { kind: "run.paused", reaches: { root: true, lead: true, run: true, other: false } },
  { kind: "run.resumed", reaches: { root: true, lead: true, run: true, other: false } },
  { kind: "run.steered", reaches: { root: false, lead: false, run: true, other: false } },
  { kind: "approval.answered", reaches: { root: false, lead: false, run: true, other: false } },
] as const)("$kind about root, lead, the run, another: $reaches", ({ kind, reaches }) => {
  const reached = { root, lead, run, other };
  for (const [name, id] of Object.entries(reached)) {
    expect(concernsRun(about[kind](id), request), name).toBe(reaches[name as keyof typeof reaches]);
  }
});

test("a session's cancel reaches all of it, its request nobody", () => {
  expect(concernsRun({ ...head, kind: "session.cancelled", reason: "enough" }, request)).toBe(true);
  expect(concernsRun({ ...head, kind: "session.requested", request, origin: "api", demo: false }, request)).toBe(false);
});
