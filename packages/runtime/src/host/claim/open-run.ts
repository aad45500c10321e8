import {
  type AgentRegistry,
  type Entry,
  type EntryBody,
  type Journal,
  type Message,
  type RunError,
  type RunRequest,
  replayAgent,
} from "@troupe/core";
import {
  composeResponse,
  openContext,
  openEntry,
  permanentError,
  rejectedOutcome,
  type Taint,
  taintField,
} from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { resolveRunSpec } from "./run-spec.ts";

/** The first entries of a new run: its opening, and its rejection if the run cannot start. */
export async function openingEntries(
  deps: HostDeps,
  request: RunRequest,
  registry: AgentRegistry,
): Promise<EntryBody[]> {
  const earlier = await earlierTurn(deps.journal, request);
  const history = earlier?.history ?? null;
  const spec = {
    ...(deps.replay?.specOf(request) ?? (await resolveRunSpec(deps, request, registry))),
    history: history ?? [],
    ...taintField(earlier?.taint),
  };
  const opened: EntryBody = { kind: "run.opened", request, pin: spec };
  const error = startError(request, registry, history);
  if (!error) return [opened];
  const context = openContext({ request, pin: spec, openedAt: deps.clock.now() });
  return [opened, { kind: "run.settled", response: composeResponse(context, rejectedOutcome(error)) }];
}

/** Why a new run cannot start; null if it can. */
function startError(
  { agent, continues }: RunRequest,
  registry: AgentRegistry,
  history: Message[] | null,
): RunError | null {
  const ids = registry.agents.map(({ id }) => id).join(", ");
  if (!registry.find(agent)) return permanentError("unknown_agent", `no agent is called "${agent}"; there are: ${ids}`);
  return history ? null : permanentError("params", `run ${continues}, which it was to go on from, has not ended here`);
}

/**
 * The conversation of the turn that a run continues, including the turns before it, and what they had read. Empty for a
 * run that continues no turn; null if the earlier run is missing or open. A settled run never changes, so its history does
 * not either.
 */
async function earlierTurn(
  journal: Pick<Journal, "readRun">,
  { session, continues }: Pick<RunRequest, "session" | "continues">,
): Promise<{ history: Message[]; taint?: Taint } | null> {
  if (continues === null) return { history: [] };
  const entries = (await journal.readRun(session, continues)).map(openEntry);
  const last = entries.at(-1);
  return last?.kind === "run.settled" ? { history: conversationOf(entries), ...taintField(last.response.taint) } : null;
}

/** The conversation of a settled run in a form that can be continued: every call has a result, every turn an end. */
function conversationOf(entries: readonly Entry[]): Message[] {
  const messages = withResults(replayAgent(entries).messages);
  const last = messages.at(-1);
  if (last?.role === "assistant" && last.text.trim() !== "") return messages;
  return [...messages, { role: "user", text: endingOf(entries) }];
}

const notRun = "There is no result: the turn ended before this call did.";

/** Adds missing tool results: a provider rejects a call without its result. */
function withResults(messages: readonly Message[]): Message[] {
  return messages.flatMap((message, index) => {
    if (message.role !== "assistant") return [message];
    const answered = resultsAfter(messages, index);
    const missing = message.calls.filter(({ id }) => !answered.has(id));
    return [
      message,
      ...missing.map(({ id, name }): Message => ({ role: "tool", callId: id, name, text: notRun, isError: true })),
    ];
  });
}

function resultsAfter(messages: readonly Message[], index: number): Set<string> {
  const next = messages.findIndex(({ role }, i) => i > index && role === "assistant");
  const turn = messages.slice(index + 1, next === -1 ? undefined : next);
  return new Set(turn.flatMap((message) => (message.role === "tool" ? [message.callId] : [])));
}

/** Tells the model why the turn before has no answer. */
function endingOf(entries: readonly Entry[]): string {
  const last = entries.at(-1);
  if (last?.kind !== "run.settled") return "The turn before this one ended without an answer.";
  const { status, error, bailoutReason } = last.response;
  const why = error?.message ?? bailoutReason;
  return `The turn before this one ended without an answer (${status.replace("_", " ")}${why ? `: ${why}` : ""}).`;
}
