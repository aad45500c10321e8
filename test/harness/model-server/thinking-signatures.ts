import { createHmac } from "node:crypto";

/**
 * What makes a thought its model's own: it comes back unchanged, with the seal that it was given, or it is refused. Also
 * remembers which calls were made after which thoughts, so that a thought that was left out is missed.
 */
export interface ThinkingSignatures {
  of(model: string, thought: string): string;
  /** These calls were made after a thought with this seal. */
  bind(callIds: readonly string[], seal: string): void;
  /** The seal of the thought before a call; undefined when there was none, or nobody knows. */
  before(callId: string): string | undefined;
}

/** Seals are the same in every process: a conversation may go on with a server that was started anew. */
export function createThinkingSignatures(): ThinkingSignatures {
  const byCall = new Map<string, string>();
  return {
    of: (model, thought) => createHmac("sha256", "model-server").update(`${model}\0${thought}`).digest("base64"),
    bind(callIds, seal) {
      for (const id of callIds) byCall.set(id, seal);
    },
    before: (callId) => byCall.get(callId),
  };
}
