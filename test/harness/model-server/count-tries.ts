import { createHash } from "node:crypto";
import type { Identity } from "./identify.ts";
import type { WireRequest } from "./wire.ts";

/** How often each step was asked for, and how many answers each conversation has had. */
export function createTryCounter() {
  const asked = new Map<string, number>();
  const answered = new Map<string, number>();
  return {
    /** Requests for this very step before this one, which is counted. */
    count(question: string): number {
      const before = asked.get(question) ?? 0;
      asked.set(question, before + 1);
      return before;
    },
    answers: (conversation: string): number => answered.get(conversation) ?? 0,
    answer(conversation: string): void {
      answered.set(conversation, (answered.get(conversation) ?? 0) + 1);
    },
  };
}

/** Identifies a conversation by its beginning, which survives compaction. */
export function conversationOf({ system, messages }: WireRequest, { agent, depth, task }: Identity): string {
  return hash([agent, depth, task, system, messages[0]?.text]);
}

/** Identifies a step. Two requests with the same text are two tries at one step. */
export function questionOf({ system, messages }: WireRequest, { purpose, step }: Identity): string {
  return hash([purpose, step, system, messages]);
}

function hash(parts: unknown): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
