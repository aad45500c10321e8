import { type Entry, type EntryKind, isDelegate, type ToolCall } from "@troupe/core";
import { openChildren, type RunDraft, type ToolCallNote } from "./draft.ts";

const activityCharsMax = 120;
/** Arguments that say what a call is about, the most telling first. */
const tellingArgs = ["path", "file_path", "command", "pattern", "url", "query", "agent", "role", "task"];

/** What a run did last, in a few words for a person who watches. `after` is the run as the entry left it. */
export function activityAfter(after: RunDraft, entry: Entry): string | null {
  const say = words[entry.kind] as (entry: Entry, after: RunDraft) => string | null;
  const said = say(entry, after);
  return said === null ? after.activity : tidy(said);
}

/** Null: nothing that is worth more than what is said already. */
const words: { [K in EntryKind]: (entry: Entry & { kind: K }, after: RunDraft) => string | null } = {
  "run.opened": () => "started",
  "run.claimed": ({ reason }) => (reason === "resumed" ? "resumed" : "taken over by another host"),
  "run.parked": () => "parked until the next start",
  "intent.assessed": () => "understood the request",
  "model.replied": ({ reply }) => describeReply(reply.calls),
  "model.failed": ({ error }) => `model call failed: ${error.message}`,
  "tool.started": ({ step, call, tool }, after) => describeNote(after, step, call) ?? tool,
  "tool.finished": ({ step, call, tool, outcome }, after) => {
    const subject = describeNote(after, step, call) ?? tool;
    if (outcome.inDoubt) return `${subject}: in doubt`;
    return outcome.error ? `${subject}: ${outcome.error.message}` : subject;
  },
  "child.settled": ({ response }, after) => {
    const open = openChildren(after);
    if (open > 0) return `waits for ${open} ${open === 1 ? "child" : "children"}`;
    return `heard from ${response.agent}: ${response.status}`;
  },
  "timer.fired": () => null,
  "inbox.received": ({ item }) => {
    if (item.kind === "approval.answered") return item.approved ? "approved" : "denied";
    return item.kind === "session.cancelled" ? "asked to stop" : null;
  },
  "verify.finished": ({ failures }) => (failures.length === 0 ? "verified" : `check failed: ${failures[0]}`),
  "run.settled": ({ response }) => {
    const reason = response.bailoutReason ?? response.error?.message;
    return reason ? `${response.status}: ${reason}` : response.status;
  },
};

function describeReply(calls: readonly ToolCall[]): string {
  const agents = calls.filter(({ name }) => isDelegate(name)).map(({ args }) => textOf(args, ["agent", "role"]) ?? "?");
  const tools = calls.filter(({ name }) => !isDelegate(name)).map(describeCall);
  const delegated = agents.length > 0 ? [`delegated to ${agents.join(", ")}`] : [];
  const all = [...delegated, ...tools];
  return all.length === 0 ? "called model" : all.join(", ");
}

function describeNote(after: RunDraft, step: number, call: number): string | null {
  const note = after.toolCalls.find((candidate) => candidate.step === step && candidate.call === call);
  return note ? describeCall(note) : null;
}

function describeCall({ name, args }: Pick<ToolCallNote, "name" | "args">): string {
  const subject = textOf(args, tellingArgs);
  return subject === null ? name : `${name} ${subject}`;
}

function textOf(args: ToolCallNote["args"], names: readonly string[]): string | null {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return null;
  const name = names.find((candidate) => typeof args[candidate] === "string" && Object.hasOwn(args, candidate));
  return name === undefined ? null : String(args[name]);
}

/** One line without control characters: the words are a model's, and are shown in terminals as well. */
function tidy(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.length <= activityCharsMax ? line : `${line.slice(0, activityCharsMax - 1)}…`;
}
