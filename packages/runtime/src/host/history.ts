import { type Entry, type Journal, type Message, type RunRequest, replayAgent } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";

/**
 * What was said in a session before a run that goes on with it: the conversation of the turn before, with all that had
 * been said before that. Empty for a run that continues nothing; null where the run before it is not there or has not
 * ended. A run that has ended never changes, so neither does this.
 */
export async function historyOf(
  journal: Pick<Journal, "readRun">,
  { session, continues }: Pick<RunRequest, "session" | "continues">,
): Promise<Message[] | null> {
  if (continues === null) return [];
  const entries = (await journal.readRun(session, continues)).map(openEntry);
  return entries.at(-1)?.kind === "run.settled" ? conversationOf(entries) : null;
}

/**
 * The conversation of a run that has ended, as one that can be gone on with: however it ended, every call has a result,
 * and where there was no answer it says so.
 */
export function conversationOf(entries: readonly Entry[]): Message[] {
  const messages = withResults(replayAgent(entries).messages);
  const last = messages.at(-1);
  if (last?.role === "assistant" && last.text.trim() !== "") return messages;
  return [...messages, { role: "user", text: endingOf(entries) }];
}

const notRun = "There is no result: the turn ended before this call did.";

/** A model's calls and their results belong together: a provider refuses one without the other. */
function withResults(messages: readonly Message[]): Message[] {
  return messages.flatMap((message, place) => {
    if (message.role !== "assistant") return [message];
    const answered = resultsAfter(messages, place);
    const missing = message.calls.filter(({ id }) => !answered.has(id));
    return [
      message,
      ...missing.map(({ id, name }): Message => ({ role: "tool", callId: id, name, text: notRun, isError: true })),
    ];
  });
}

function resultsAfter(messages: readonly Message[], place: number): Set<string> {
  const next = messages.findIndex(({ role }, i) => i > place && role === "assistant");
  const turn = messages.slice(place + 1, next === -1 ? undefined : next);
  return new Set(turn.flatMap((message) => (message.role === "tool" ? [message.callId] : [])));
}

/** Why there was no answer, for the model that is asked something else now. */
function endingOf(entries: readonly Entry[]): string {
  const last = entries.at(-1);
  if (last?.kind !== "run.settled") return "The turn before this one ended without an answer.";
  const { status, error, bailoutReason } = last.response;
  const why = error?.message ?? bailoutReason;
  return `The turn before this one ended without an answer (${status.replace("_", " ")}${why ? `: ${why}` : ""}).`;
}
