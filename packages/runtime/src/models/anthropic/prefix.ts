import { createHash } from "node:crypto";

/** What a conversation is up to some point, as a fingerprint. */
export interface Prefix {
  add(part: unknown): void;
  /** The fingerprint of all that was added so far. */
  mark(): string;
}

export function createPrefix(): Prefix {
  const hash = createHash("sha256");
  return {
    add: (part) => void hash.update(`${JSON.stringify(part)}\n`),
    mark: () => hash.copy().digest("base64url").slice(0, 22),
  };
}
