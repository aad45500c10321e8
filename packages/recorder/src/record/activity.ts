import type { Entry, InboxItem, RunResponse, ToolCall } from "@troupe/core";
import { type EntryKind, isDelegate } from "@troupe/core/internal";
import { openChildren, type RunRecord, type ToolCallRecord } from "./run-columns.ts";

const activityCharsMax = 120;
/** Arguments that name the subject of a call, the most specific first. */
const subjectArgs = ["path", "file_path", "command", "pattern", "url", "query", "agent", "role", "task", "result"];

/** The latest activity of a run, in a few words for a user. `after` is the run's record after the entry. */
export function activityAfter(after: RunRecord, entry: Entry): string | null {
  const describe = descriptions[entry.kind] as (entry: Entry, after: RunRecord) => string | null;
  const activity = describe(entry, after);
  return activity === null ? after.activity : toLine(activity);
}

/** Null keeps the previous activity. */
const descriptions: { [K in EntryKind]: (entry: Entry & { kind: K }, after: RunRecord) => string | null } = {
  "run.opened": () => "started",
  "run.claimed": ({ reason }) => (reason === "resumed" ? "resumed" : "taken over by another host"),
  // "waiting" and "paused" describe the other two reasons better.
  "run.parked": ({ reason }) => (reason === "drain" ? "parked until the next start" : null),
  "intent.assessed": () => "assessed the request",
  "model.replied": ({ reply }) => describeReply(reply.calls),
  "model.failed": ({ error }) =>
    error.type === "rate_limit" && error.recoverable
      ? `waiting for its model: ${error.message}`
      : `model call failed: ${error.message}`,
  "calls.planned": describePlan,
  "context.summarised": ({ error }) =>
    error ? "shortened the conversation for its children" : "summarised the conversation for its children",
  "context.trimmed": ({ results: { length }, tokensBefore, tokensAfter }) =>
    `removed ${length} older ${length === 1 ? "result" : "results"}: ${describeTokens(tokensBefore, tokensAfter)}`,
  "context.compacted": ({ error, tokensBefore, tokensAfter }) =>
    `${error ? "shortened" : "summarised"} the conversation: ${describeTokens(tokensBefore, tokensAfter)}`,
  "approval.requested": ({ approval: { tool, args } }) =>
    tool === null ? "asks whether to start" : `asks to run ${describeCall({ name: tool, args })}`,
  "tool.started": ({ step, call, tool }, after) => describeRecorded(after, step, call) ?? tool,
  "tool.finished": ({ step, call, tool, outcome }, after) => {
    const subject = describeRecorded(after, step, call) ?? tool;
    if (outcome.inDoubt) return `${subject}: in doubt`;
    return outcome.error ? `${subject}: ${outcome.error.message}` : subject;
  },
  "child.settled": ({ response }, after) => describeOpen(after) ?? `${response.agent} ended: ${response.status}`,
  "child.waiting": ({ step, call, item, waiting }, after) =>
    waiting ? `${agentOf(after, step, call, item)} waits for a person` : describeOpen(after),
  "timer.fired": () => null,
  "inbox.received": ({ item }) => describeInboxItem(item),
  "children.checked": ({ results }) => {
    const failed = results.find(({ failures }) => failures.length > 0);
    return failed ? `check of ${failed.agent} failed: ${failed.failures[0]}` : "results of its agents checked";
  },
  "verify.finished": ({ failures }) => (failures.length === 0 ? "verified" : `check failed: ${failures[0]}`),
  "run.settled": ({ response }) => describeEnd(response),
};

/** The end of a run, in the same few words. */
export function describeEnd({ status, bailoutReason, error }: RunResponse): string {
  const reason = bailoutReason ?? error?.message;
  return toLine(reason ? `${status}: ${reason}` : status);
}

function describeInboxItem(item: InboxItem): string | null {
  switch (item.kind) {
    case "approval.answered":
      if (item.approved) return `approved by ${item.by}`;
      return item.reason ? `denied by ${item.by}: ${item.reason}` : `denied by ${item.by}`;
    case "run.steered":
      return `message from ${item.by}: ${item.text}`;
    case "run.paused":
      return `paused by ${item.by}`;
    case "run.resumed":
      return `resumed by ${item.by}`;
    case "session.cancelled":
    case "run.cancelled":
      return "cancel requested";
    case "undo.planned":
    case "undo.finished":
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

function describeOpen(after: RunRecord): string | null {
  const open = openChildren(after);
  if (open === 0) return null;
  return `waits for ${open} ${open === 1 ? "child" : "children"}`;
}

function describeReply(calls: readonly ToolCall[]): string {
  // The agents of a batch are in its tasks: `calls.planned` names them.
  const agents = calls
    .filter(({ name }) => isDelegate(name))
    .map(({ args }) => textOf(args, ["agent", "role"]) ?? "several agents");
  const tools = calls.filter(({ name }) => !isDelegate(name)).map(describeCall);
  const delegated = agents.length > 0 ? [`delegated to ${agents.join(", ")}`] : [];
  const all = [...delegated, ...tools];
  return all.length === 0 ? "called model" : all.join(", ");
}

function describeRecorded(after: RunRecord, step: number, call: number): string | null {
  const recorded = recordedCall(after, step, call);
  return recorded ? describeCall(recorded) : null;
}

function agentOf(after: RunRecord, step: number, call: number, item: number): string {
  const recorded = recordedCall(after, step, call);
  const child = recorded?.children?.find((candidate) => candidate.item === item);
  return child?.agent ?? (recorded ? textOf(recorded.args, ["agent", "role"]) : null) ?? "a child";
}

function recordedCall(after: RunRecord, step: number, call: number): ToolCallRecord | undefined {
  return after.calls.find((candidate) => candidate.step === step && candidate.call === call);
}

function describeCall({ name, args }: Pick<ToolCallRecord, "name" | "args">): string {
  const subject = textOf(args, subjectArgs);
  return subject === null ? name : `${name} ${subject}`;
}

function textOf(args: ToolCallRecord["args"], names: readonly string[]): string | null {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return null;
  const name = names.find((candidate) => typeof args[candidate] === "string" && Object.hasOwn(args, candidate));
  return name === undefined ? null : String(args[name]);
}

/** One line without control characters: a model wrote the text, and terminals show it. */
function toLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.length <= activityCharsMax ? line : `${line.slice(0, activityCharsMax - 1)}…`;
}
