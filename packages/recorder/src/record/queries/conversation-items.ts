import type { Entry, InboxItem, RunResponse } from "@troupe/core";
import {
  type ConversationCall,
  type ConversationItem,
  type ConversationText,
  type EntryKind,
  filesOf,
} from "@troupe/core/internal";
import type { StoredEntry } from "./stored-entries.ts";

/** Longer texts are cut; the cut names the entry that has the whole text. */
const textCharactersMax = 16_000;
/** All arguments of a reply together, and the number of its calls. */
const argsCharactersMax = 120_000;
const callsMax = 200;

type EntryBy<K extends EntryKind> = Entry & { kind: K };
type Bodies = { [K in EntryKind]: (entry: EntryBy<K>, cut: CutText) => ConversationItem[] };
type CutText = (text: string, options?: { charactersMax?: number; ref?: string | null }) => ConversationText;

/** The parts of the conversation that an entry stands for. */
export function itemsOf({ index, entry }: StoredEntry): ConversationItem[] {
  if (!entry) {
    const text = `Entry ${index} cannot be read by this version.`;
    return [{ kind: "note", index, at: 0, text: { text, cut: null } }];
  }
  const cut: CutText = (text, { charactersMax = textCharactersMax, ref = null } = {}) => {
    if (text.length <= charactersMax && ref === null) return { text, cut: null };
    return { text: text.slice(0, charactersMax), cut: { characters: text.length, entry: index, ref } };
  };
  const read = bodies[entry.kind] as (entry: Entry, cut: CutText) => ConversationItem[];
  return read(entry, cut);
}

const none = (): ConversationItem[] => [];

/** One reading per kind: the compiler reports a missing kind. */
const bodies: Bodies = {
  "run.opened": ({ index, at, request, pin }, cut) => [
    {
      ...{ kind: "request", index, at, from: request.parent?.agent ?? null, agent: request.agent },
      task: cut(request.task),
      context: request.context === null ? null : cut(request.context),
      prompt: cut(pin.prompt),
      earlierMessages: pin.history.length,
    },
  ],
  "run.claimed": (entry, cut) =>
    note(entry, cut, entry.reason === "resumed" ? "resumed" : "taken over by another host"),
  "run.parked": (entry, cut) => note(entry, cut, `parked: ${entry.reason}`),
  "intent.assessed": none,
  "model.replied": replyItem,
  "model.failed": ({ index, at, step, error, durationMs }) => [
    { kind: "failure", index, at, step, error: `${error.type}: ${error.message}`, durationMs },
  ],
  "calls.planned": plannedItems,
  "context.summarised": none,
  "context.trimmed": (entry, cut) =>
    note(entry, cut, `removed ${entry.results.length} older results from the conversation of the model`),
  "context.compacted": (entry, cut) => note(entry, cut, `summarised the conversation of the model:\n${entry.text}`),
  "approval.requested": ({ index, at, step, call, approval: { id, tool, reason } }) => [
    { kind: "question", index, at, step, call, approval: id, tool, reason },
  ],
  "tool.started": none,
  "tool.finished": ({ index, at, step, call, tool, outcome }, cut) => {
    const { output, error, inDoubt, durationMs, outputRef } = outcome;
    const { filesCreated, filesModified, filesDeleted } = filesOf(outcome);
    const text = cut(output, { ref: outputRef });
    const files = [...filesCreated, ...filesModified, ...filesDeleted].slice(0, 200);
    const result = { text, error: error?.message ?? null, isInDoubt: inDoubt, durationMs, child: null, files };
    return [{ kind: "result", index, at, step, call, tool, ...result }];
  },
  "child.settled": ({ index, at, step, call, item, attempt, response }, cut) => {
    const { runId: run, agent, status, metrics } = response;
    const child = { run, agent, item, attempt, status };
    const result = { text: cut(answerOf(response)), error: response.error?.message ?? null, isInDoubt: false, child };
    const { durationMs } = metrics;
    return [{ kind: "result", index, at, step, call, tool: "delegate", ...result, durationMs, files: [] }];
  },
  "child.waiting": none,
  "timer.fired": (entry, cut) => note(entry, cut, `the timer ${entry.timer} fired`),
  "inbox.received": ({ index, at, item }, cut) => {
    const text = commandText(item);
    const by = "by" in item ? item.by : null;
    return text === null ? [] : [{ kind: "command", index, at, by, text: cut(text) }];
  },
  "children.checked": (entry, cut) => {
    const failures = entry.results.flatMap(({ agent, failures: each }) => each.map((text) => `${agent}: ${text}`));
    return failures.length === 0 ? [] : note(entry, cut, `check of results failed:\n${failures.join("\n")}`);
  },
  "verify.finished": (entry, cut) =>
    entry.failures.length === 0 ? [] : note(entry, cut, `check failed:\n${entry.failures.join("\n")}`),
  "run.settled": ({ index, at, response }, cut) => {
    const { status, error, bailoutReason } = response;
    const text = cut(answerOf(response));
    return [{ kind: "answer", index, at, status, text, error: error?.message ?? null, bailoutReason }];
  },
};

function note({ index, at }: Entry, cut: CutText, text: string): ConversationItem[] {
  return [{ kind: "note", index, at, text: cut(text) }];
}

function answerOf({ details, summary }: RunResponse): string {
  return details || summary;
}

function replyItem({ index, at, step, reply, durationMs }: EntryBy<"model.replied">, cut: CutText): ConversationItem[] {
  const shown = reply.calls.slice(0, callsMax);
  const charactersMax = Math.min(textCharactersMax, Math.floor(argsCharactersMax / Math.max(1, shown.length)));
  const calls = shown.map(({ name, args, problem }, call): ConversationCall => {
    const { text, cut: argsCut } = cut(JSON.stringify(args) ?? "null", { charactersMax });
    return { call, name, args: argsCut === null ? args : text, argsCut, problem };
  });
  const { inputTokens, outputTokens, costUsd } = reply.usage;
  const usage = { model: reply.model, durationMs, inputTokens, outputTokens, costUsd };
  const callsLeftOut = reply.calls.length - calls.length;
  const retries = reply.retries?.length ?? 0;
  return [{ kind: "reply", index, at, step, text: cut(reply.text), calls, callsLeftOut, ...usage, retries }];
}

/** Refused calls have their result at once. The results of children follow as they settle. */
function plannedItems(entry: EntryBy<"calls.planned">, cut: CutText): ConversationItem[] {
  const { index, at, step, children, refused } = entry;
  const started = children.map(({ name, agent, run }) => `${agent}${name === agent ? "" : ` (${name})`}: run ${run}`);
  const results = refused.map(({ call, tool, error }): ConversationItem => {
    const result = { text: cut(""), error: error.message, isInDoubt: false, durationMs: 0, child: null, files: [] };
    return { kind: "result", index, at, step, call, tool, ...result };
  });
  return [...results, ...(started.length === 0 ? [] : note(entry, cut, `delegated to\n${started.join("\n")}`))];
}

/** Null for items that say nothing to the run. */
function commandText(item: InboxItem): string | null {
  switch (item.kind) {
    case "run.steered":
      return item.text;
    case "approval.answered": {
      const answer = item.approved ? `approved (${item.scope})` : "denied";
      return item.reason === null ? answer : `${answer}: ${item.reason}`;
    }
    case "run.paused":
      return "paused";
    case "run.resumed":
      return "resumed";
    case "session.cancelled":
    case "run.cancelled":
      return `cancel: ${item.reason}`;
    default:
      return null;
  }
}
