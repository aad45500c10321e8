import { createHash, type Hash } from "node:crypto";

/**
 * Seals thoughts, so that what was changed in them, or before them, is found before the API finds it: it would refuse
 * the request.
 */
export interface ThinkingSignatures {
  /** Told of every block, in the order in which they are sent and received. */
  add(part: unknown): void;
  /** The seal of a thought that comes now. */
  of(thought: unknown): string;
}

/** For a model that takes a thought back only after the very words that it came after. */
export function signaturesOfAll(): ThinkingSignatures {
  const hash = createHash("sha256");
  return {
    add: (part) => void hash.update(lineOf(part)),
    of: (thought) => sealOf(hash.copy(), thought),
  };
}

/** For one that takes its thoughts back whatever came before. */
export function signaturesOfThinking(): ThinkingSignatures {
  return { add: () => {}, of: (thought) => sealOf(createHash("sha256"), thought) };
}

function sealOf(hash: Hash, thought: unknown): string {
  return hash.update(lineOf(thought)).digest("base64url").slice(0, 22);
}

function lineOf(part: unknown): string {
  return `${JSON.stringify(part)}\n`;
}
