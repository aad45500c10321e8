import { createHmac } from "node:crypto";

/**
 * Signs thoughts: a thought must come back unchanged with its signature. Also remembers the calls after each thought,
 * to detect a missing thought.
 */
export interface ThinkingSignatures {
  of(model: string, thought: string): string;
  /** Records that these calls followed a thought with this signature. */
  bind(callIds: readonly string[], seal: string): void;
  /** Signature of the thought before a call; undefined if there was none or it is unknown. */
  before(callId: string): string | undefined;
}

/** Signatures are equal in every process, so a conversation may continue with a restarted server. */
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
