import type { Entry, InboxItem, RunResponse, ToolCall } from "@troupe/core";
import { type EntryKind, isDelegate } from "@troupe/core/internal";
import { openChildren, type RunDraft, type ToolCallNote } from "./draft.ts";

const activityCharsMax = 120;
/** Arguments that say what a call is about, the most telling first. */
const tellingArgs = ["path", "file_path", "command", "pattern", "url", "query", "agent", "role", "task", "result"];

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
  // Waiting for an answer or to be resumed says more.
  "run.parked": ({ reason }) => (reason === "drain" ? "parked until the next start" : null),
  "intent.assessed": () => "understood the request",
  "model.replied": ({ reply }) => describeReply(reply.calls),
  "model.failed": ({ error }) =>
    error.type === "rate_limit" && error.recoverable
      ? `waits for its model: ${error.message}`
      : `model call failed: ${error.message}`,
  "calls.planned": describePlan,
  "context.summarised": ({ error }) =>
    error ? "cut the conversation short for its children" : "summed up the conversation for its children",
  "context.trimmed": ({ results: { length }, tokensBefore, tokensAfter }) =>
    `took ${length} older ${length === 1 ? "result" : "results"} out: ${describeTokens(tokensBefore, tokensAfter)}`,
  "context.compacted": ({ error, tokensBefore, tokensAfter }) =>
    `${error ? "cut" : "summed up"} the conversation: ${describeTokens(tokensBefore, tokensAfter)}`,
  "approval.requested": ({ approval: { tool, args } }) =>
    tool === null ? "asks whether to begin" : `asks to run ${describeCall({ name: tool, args })}`,
  "tool.started": ({ step, call, tool }, after) => describeNote(after, step, call) ?? tool,
  "tool.finished": ({ step, call, tool, outcome }, after) => {
    const subject = describeNote(after, step, call) ?? tool;
    if (outcome.inDoubt) return `${subject}: in doubt`;
    return outcome.error ? `${subject}: ${outcome.error.message}` : subject;
  },
  "child.settled": ({ response }, after) => describeOpen(after) ?? `heard from ${response.agent}: ${response.status}`,
  "child.waiting": ({ step, call, item, waiting }, after) =>
    waiting ? `${agentOf(after, step, call, item)} waits for a person` : describeOpen(after),
  "timer.fired": () => null,
  "inbox.received": ({ item }) => describeWish(item),
  "verify.finished": ({ failures }) => (failures.length === 0 ? "verified" : `check failed: ${failures[0]}`),
  "run.settled": ({ response }) => describeEnd(response),
};

/** How a run ended, in the same few words. */
export function describeEnd({ status, bailoutReason, error }: RunResponse): string {
  const reason = bailoutReason ?? error?.message;
  return tidy(reason ? `${status}: ${reason}` : status);
}

function describeWish(item: InboxItem): string | null {
  switch (item.kind) {
    case "approval.answered":
      if (item.approved) return `approved by ${item.by}`;
      return item.reason ? `denied by ${item.by}: ${item.reason}` : `denied by ${item.by}`;
    case "run.steered":
      return `told by ${item.by}: ${item.text}`;
    case "run.paused":
      return `paused by ${item.by}`;
    case "run.resumed":
      return `resumed by ${item.by}`;
    case "session.cancelled":
    case "run.cancelled":
      return "asked to stop";
    case "session.requested":
    case "session.continued":
      return null;
  }
}

function describePlan({ children, refused }: Entry & { kind: "calls.planned" }): string | null {
  const [refusal] = refused;
  if (children.length === 0) return refusal ? `${refusal.tool}: ${refusal.error.message}` : null;
  const byAgent = Map.groupBy(children, ({ agent }) => agent);
  const agents = [...byAgent].map(([agent, { length }]) => (length === 1 ? agent : `${agent} × ${length}`));
  return `delegated to ${agents.join(", ")}`;
}

function describeTokens(before: number, after: number): string {
  return `${rounded(before)} → ${rounded(after)} tokens`;
}

function rounded(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}

function describeOpen(after: RunDraft): string | null {
  const open = openChildren(after);
  if (open === 0) return null;
  return `waits for ${open} ${open === 1 ? "child" : "children"}`;
}

function describeReply(calls: readonly ToolCall[]): string {
  // A batch names its agents inside: they are told once it is planned.
  const agents = calls
    .filter(({ name }) => isDelegate(name))
    .map(({ args }) => textOf(args, ["agent", "role"]) ?? "several agents");
  const tools = calls.filter(({ name }) => !isDelegate(name)).map(describeCall);
  const delegated = agents.length > 0 ? [`delegated to ${agents.join(", ")}`] : [];
  const all = [...delegated, ...tools];
  return all.length === 0 ? "called model" : all.join(", ");
}

function describeNote(after: RunDraft, step: number, call: number): string | null {
  const note = noteOf(after, step, call);
  return note ? describeCall(note) : null;
}

function agentOf(after: RunDraft, step: number, call: number, item: number): string {
  const note = noteOf(after, step, call);
  const child = note?.children?.find((candidate) => candidate.item === item);
  return child?.agent ?? (note ? textOf(note.args, ["agent", "role"]) : null) ?? "a child";
}

function noteOf(after: RunDraft, step: number, call: number): ToolCallNote | undefined {
  return after.toolCalls.find((note) => note.step === step && note.call === call);
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
