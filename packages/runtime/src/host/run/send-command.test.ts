/** A command reaches a parked run by an offer; a run that waits for other things is not offered. */
import type { EntryBody, InboxItem, RunRequest } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { resolveRunSpec } from "../claim/run-spec.ts";
import { createTestDeps, rootRequest, type TestDeps, writeEntries } from "../host-deps.test-helper.ts";
import { recoverOpenRuns } from "../recovery/resume-open-runs.ts";
import { sendCommand, wakeParkedRuns } from "./send-command.ts";

const [root, lead, leaf] = ["1", "2", "3"].map((n) => `0198a000-0000-7000-8000-00000000000${n}`) as [
  string,
  string,
  string,
];
const requests: Record<string, RunRequest> = {
  root: rootRequest({ run: root }),
  lead: rootRequest({ run: lead, ancestors: [root] }),
  leaf: rootRequest({ run: leaf, ancestors: [root, lead] }),
};
const names = { [root]: "root", [lead]: "lead", [leaf]: "leaf" };
const head = { v: 1 as const, at: 1, session: rootRequest({ run: root }).session };

type Parked = Extract<EntryBody, { kind: "run.parked" }>["reason"];

/** A journal with these parked runs; null for a run that is not parked. */
async function withRuns(parked: Record<string, Parked | null>): Promise<TestDeps> {
  const deps = createTestDeps({ agents: [{ id: "main" }], script: () => ({}) });
  const registry = await deps.agentSource.load(null);
  for (const [name, reason] of Object.entries(parked)) {
    const request = requests[name];
    if (!request) continue;
    const bodies: EntryBody[] = [{ kind: "run.opened", request, pin: await resolveRunSpec(deps, request, registry) }];
    if (reason) bodies.push({ kind: "run.parked", reason });
    await writeEntries(deps, request, bodies);
  }
  return deps;
}

async function offered(deps: TestDeps): Promise<(string | undefined)[]> {
  const tasks = await deps.queue.take({ agents: "all", localities: "all", max: 9 });
  return tasks.map(({ run }) => names[run]);
}

const commands: Record<string, InboxItem> = {
  "cancel of the session": { ...head, kind: "session.cancelled", reason: "enough" },
  "cancel of lead": { ...head, kind: "run.cancelled", run: lead, reason: "enough" },
  "resume of root": { ...head, kind: "run.resumed", run: root, by: "a person" },
  "message to lead": { ...head, kind: "run.steered", run: lead, text: "left", by: "a person" },
};

test.for([
  { command: "cancel of the session", woken: ["root", "lead", "leaf"] },
  { command: "cancel of lead", woken: ["lead", "leaf"] },
  { command: "resume of root", woken: ["root", "lead", "leaf"] },
  { command: "message to lead", woken: ["lead"] },
])("a $command wakes $woken", async ({ command, woken }) => {
  const deps = await withRuns({ root: "pause", lead: "approval", leaf: "drain" });
  expect((await wakeParkedRuns(deps, commands[command] as InboxItem)).map((run) => names[run])).toEqual(woken);
  expect(await offered(deps)).toEqual(woken);
});

test("a running run is not offered: it gets the announcement", async () => {
  const deps = await withRuns({ root: null, lead: "approval" });
  const announced: string[] = [];
  await deps.bus.subscribe(deps.subjects.all.control, ({ bytes }) => announced.push(new TextDecoder().decode(bytes)));
  expect(await sendCommand(deps, commands["resume of root"] as InboxItem)).toEqual({ seq: 1 });
  expect(await offered(deps)).toEqual(["lead"]);
  await deps.bus.flush();
  expect(announced).toEqual([JSON.stringify({ v: 1, kind: "inbox.announced", session: head.session })]);
  expect(await deps.journal.readInbox(head.session)).toMatchObject([{ item: { kind: "run.resumed" } }]);
});

describe("at start", () => {
  test.for<{ what: string; reason: Parked | null; sent: string[]; recorded: boolean; offered: boolean }>([
    { what: "a running run", reason: null, sent: [], recorded: false, offered: true },
    { what: "a drained run", reason: "drain", sent: [], recorded: false, offered: true },
    { what: "a run that waits for an answer", reason: "approval", sent: [], recorded: false, offered: false },
    { what: "a paused run", reason: "pause", sent: [], recorded: false, offered: false },
    {
      what: "a paused run with a command",
      reason: "pause",
      sent: ["resume of root"],
      recorded: false,
      offered: true,
    },
    {
      what: "a paused run that has journaled its command",
      reason: "pause",
      sent: ["resume of root"],
      recorded: true,
      offered: false,
    },
    {
      what: "a paused run with a command for another run",
      reason: "pause",
      sent: ["cancel of lead"],
      recorded: false,
      offered: false,
    },
  ])("$what is offered: $offered", async ({ reason, sent, recorded, offered: isOffered }) => {
    const deps = await withRuns({ root: null });
    for (const [i, command] of sent.entries()) {
      const item = commands[command] as InboxItem;
      await deps.journal.appendInbox(item);
      if (recorded)
        await writeEntries(deps, requests.root as RunRequest, [{ kind: "inbox.received", seq: i + 1, item }]);
    }
    if (reason) await writeEntries(deps, requests.root as RunRequest, [{ kind: "run.parked", reason }]);
    expect(await recoverOpenRuns(deps.journal, deps.queue)).toEqual(isOffered ? [root] : []);
    expect(await offered(deps)).toEqual(isOffered ? ["root"] : []);
  });
});
