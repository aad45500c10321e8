import { type Entry, type FeedItem, InboxItem, type RunRequest, type RunResponse } from "@troupe/core";
import { beginsTurn, decodeText, type ForkedFrom, forkHost, openEntry } from "@troupe/core/internal";

/** A session for people who read it, made from its feed. */
export interface Transcript {
  session: string;
  task: string;
  forkedFrom: ForkedFrom | null;
  /** Each run directly before the runs below it. */
  runs: TranscriptRun[];
}

export interface TranscriptRun {
  request: RunRequest;
  model: string;
  startedAtMs: number;
  /** Null until the run has settled. */
  endedAtMs: number | null;
  response: RunResponse | null;
  events: TranscriptEvent[];
}

/** One thing that happened in a run, in the order of its journal. */
export type TranscriptEvent =
  | { kind: "reply"; atMs: number; entry: Entry & { kind: "model.replied" }; calls: TranscriptCall[] }
  | { kind: "said"; atMs: number; by: string; text: string }
  | { kind: "note"; atMs: number; text: string };

/** A call of a reply, with its result. */
export interface TranscriptCall {
  name: string;
  args: unknown;
  /** Null: it has no outcome. */
  result: { text: string; isError: boolean; durationMs: number; atMs: number } | null;
  /** Runs that it started. */
  children: string[];
}

type Open = TranscriptRun & { calls: Map<string, TranscriptCall> };

/**
 * Makes the transcript of one session.
 *
 * @example
 * const { runs } = readTranscript(await readSessionFeed({ file: "/tmp/troupe/journal.db", session }), session);
 */
export function readTranscript(feed: readonly FeedItem[], session: string): Transcript {
  const runs = new Map<string, Open>();
  let first: { task: string; forkedFrom: ForkedFrom | null } | null = null;
  for (const item of feed) {
    if (item.session !== session) continue;
    if (item.kind === "inbox") {
      const command = decodeText(InboxItem, item.text, "inbox item");
      if (!beginsTurn(command)) continue;
      first ??= {
        task: command.request.task,
        forkedFrom: command.kind === "session.requested" ? (command.forkedFrom ?? null) : null,
      };
      continue;
    }
    addEntry(runs, openEntry(item.text));
  }
  const all = inTreeOrder([...runs.values()].map(({ calls: _, ...run }) => run));
  return { session, task: first?.task ?? all[0]?.request.task ?? "", forkedFrom: first?.forkedFrom ?? null, runs: all };
}

function inTreeOrder(runs: readonly TranscriptRun[]): TranscriptRun[] {
  const ids = new Set(runs.map(({ request }) => request.run));
  const below = Map.groupBy(runs, ({ request }) =>
    request.parent && ids.has(request.parent.run) ? request.parent.run : "",
  );
  const withChildren = (run: TranscriptRun): TranscriptRun[] => [
    run,
    ...(below.get(run.request.run) ?? []).flatMap(withChildren),
  ];
  return (below.get("") ?? []).flatMap(withChildren);
}

function addEntry(runs: Map<string, Open>, entry: Entry): void {
  if (entry.kind === "run.opened") {
    const { request, pin, at } = entry;
    const opened = { request, model: pin.model, startedAtMs: at, endedAtMs: null, response: null, events: [] };
    runs.set(entry.run, { ...opened, calls: new Map() });
    return;
  }
  const run = runs.get(entry.run);
  if (run) addFact(run, entry);
}

function addFact(run: Open, entry: Entry): void {
  if (entry.kind === "model.replied") addReply(run, entry);
  if (entry.kind === "tool.finished") addOutcome(run, entry);
  if (entry.kind === "calls.planned") addPlan(run, entry);
  if (entry.kind === "child.settled") addChild(run, entry);
  if (entry.kind === "inbox.received") addCommand(run, entry);
  if (entry.kind === "run.settled") Object.assign(run, { endedAtMs: entry.at, response: entry.response });
  const text = noteOf(entry);
  if (text !== null) run.events.push({ kind: "note", atMs: entry.at, text });
}

/** The note about an entry that is neither a message nor a call; null for none. */
function noteOf(entry: Entry): string | null {
  switch (entry.kind) {
    case "model.failed":
      return `The model call of step ${entry.step} failed: ${entry.error.message}`;
    case "approval.requested":
      return `Waits for approval of ${entry.approval.tool ?? "the whole run"}: ${entry.approval.reason}`;
    case "context.compacted":
      return `A summary replaced the earlier conversation:\n${entry.text}`;
    case "context.trimmed":
      return `The results of ${entry.results.join(", ")} were replaced by placeholders`;
    case "run.claimed":
      return describeClaim(entry);
    default:
      return null;
  }
}

function addPlan(run: Open, { step, children, refused, at: atMs }: Entry & { kind: "calls.planned" }): void {
  for (const { call, run: child } of children) run.calls.get(`${step}/${call}`)?.children.push(child);
  for (const { call, error } of refused) {
    setResult(run, `${step}/${call}`, { text: error.message, isError: true, durationMs: 0, atMs });
  }
}

function describeClaim({ forkedFrom, reason }: Entry & { kind: "run.claimed" }): string {
  if (forkedFrom) return `Forked here from session ${forkedFrom.session}; the part above is a copy`;
  return reason === "resumed" ? "The run was resumed" : "Another host took the run over";
}

function addReply(run: Open, entry: Entry & { kind: "model.replied" }): void {
  const calls = entry.reply.calls.map(({ name, args }): TranscriptCall => ({ name, args, result: null, children: [] }));
  for (const [i, call] of calls.entries()) run.calls.set(`${entry.step}/${i}`, call);
  run.events.push({ kind: "reply", atMs: entry.at, entry, calls });
}

function addOutcome(run: Open, { step, call, outcome, at }: Entry & { kind: "tool.finished" }): void {
  const { error, output, durationMs } = outcome;
  const text = output || (error?.message ?? "");
  setResult(run, `${step}/${call}`, { text, isError: error !== null, durationMs, atMs: at });
}

function addChild(run: Open, { step, call, response, at }: Entry & { kind: "child.settled" }): void {
  const key = `${step}/${call}`;
  const known = run.calls.get(key)?.result;
  const line = `${response.agent} ${response.status}: ${response.summary}`;
  const text = known ? `${known.text}\n${line}` : line;
  const isError = (known?.isError ?? false) || !response.success;
  setResult(run, key, { text, isError, durationMs: response.metrics.durationMs, atMs: at });
  const children = run.calls.get(key)?.children;
  if (children && !children.includes(response.runId)) children.push(response.runId);
}

function addCommand(run: Open, { item, at: atMs }: Entry & { kind: "inbox.received" }): void {
  const addMessage = (by: string, text: string): void => void run.events.push({ kind: "said", atMs, by, text });
  if (item.kind === "run.steered") addMessage(item.by, item.text);
  if (item.kind === "approval.answered") {
    addMessage(item.by, `${item.approved ? "approved" : "denied"}${item.reason ? `: ${item.reason}` : ""}`);
  }
  if (item.kind === "run.paused" || item.kind === "run.resumed") addMessage(item.by, item.kind.slice(4));
  if (item.kind === "run.cancelled" || item.kind === "session.cancelled")
    addMessage("a person", `cancelled: ${item.reason}`);
}

function setResult(run: Open, key: string, result: NonNullable<TranscriptCall["result"]>): void {
  const call = run.calls.get(key);
  if (call) call.result = result;
}

/** Tokens and cost of a run's own model calls. Copied entries of a fork cost nothing: the original paid for them. */
export function usageOf({ events }: TranscriptRun): { tokens: number; costUsd: number | null } {
  let tokens = 0;
  let costUsd: number | null = 0;
  for (const event of events) {
    if (event.kind !== "reply" || event.entry.host === forkHost) continue;
    const { inputTokens, outputTokens, costUsd: cost } = event.entry.reply.usage;
    tokens += inputTokens + outputTokens;
    costUsd = costUsd === null || (cost === null && inputTokens + outputTokens > 0) ? null : costUsd + (cost ?? 0);
  }
  return { tokens, costUsd };
}

/** C0 except tab and newline, DEL, C1, and characters that reorder text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Removes characters that a terminal would act on. A file can be shown on one. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafe, "").toWellFormed();
}

/** The same in one line of at most `max` characters. */
export function shortLine(text: string, max: number): string {
  const line = printable(text.replaceAll("\r", " ")).replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length > max ? `${characters.slice(0, max - 1).join("")}…` : line;
}

export function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Facts about a session or run, in the order in which people ask for them. */
export function factsOf(run: TranscriptRun): [name: string, value: string][] {
  const { request, model, startedAtMs, endedAtMs, response } = run;
  const { tokens, costUsd } = usageOf(run);
  return [
    ["run", request.run],
    ["agent", request.agent],
    ["model", printable(model)],
    ["status", response?.status ?? "not settled"],
    ["started", iso(startedAtMs)],
    ["ended", endedAtMs === null ? "—" : iso(endedAtMs)],
    ["tokens", tokens.toLocaleString("en-US")],
    ["cost", costUsd === null ? "unknown" : `$${costUsd.toFixed(4)}`],
  ];
}
