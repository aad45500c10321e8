import { createHash } from "node:crypto";
import type { ToolSpec } from "@troupe/core";

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;
const hashCharacters = 8;

/**
 * A tool's name as the vendors' APIs take it: its own where that will do, else what is left of it and a mark, so that two names
 * do not become one. The same name becomes the same one every time.
 */
export function wireNameOf(name: string): string {
  if (namePattern.test(name)) return name;
  const mark = createHash("sha256").update(name).digest("hex").slice(0, hashCharacters);
  const rest = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64 - hashCharacters - 1);
  return `${rest}_${mark}`;
}

/** Names of these tools by what the wire calls them. */
export function namesByWire(tools: readonly ToolSpec[]): ReadonlyMap<string, string> {
  return new Map(tools.map(({ name }) => [wireNameOf(name), name]));
}
