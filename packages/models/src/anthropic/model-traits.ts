import type { MessageCreateParams } from "@anthropic-ai/sdk/resources/messages";

/** What differs between models that speak the same wire. */
export interface ModelTraits {
  /** `adaptive`: as much as it sees fit; `manual`: within a budget that the request sets. */
  thinking: "adaptive" | "manual" | "none";
  /** What turns its thinking off: null where saying nothing does, undefined where nothing does. */
  off: NonNullable<MessageCreateParams["thinking"]> | null | undefined;
  /** The highest effort that it can be asked for; null where it knows none. */
  effortMax: "high" | "max" | null;
  /** Takes its thoughts back only after the very words that they came after. */
  bindsThoughts: boolean;
  /** Can be held to a schema of JSON. */
  holdsSchemas: boolean;
}

interface Row extends ModelTraits {
  lines: readonly string[];
  /** The first version that is like this. */
  from: number;
}

const adaptive = { thinking: "adaptive", effortMax: "max", bindsThoughts: false, holdsSchemas: true } as const;
const manual = { thinking: "manual", off: null, effortMax: null, bindsThoughts: false, holdsSchemas: true } as const;
const every = ["fable", "mythos", "opus", "sonnet", "haiku"];

/**
 * By line and version, the newest first: the first row that fits holds, so that a model which is newer than this table
 * is taken to be like the newest of its line.
 */
const rows: readonly Row[] = [
  { lines: ["fable", "mythos"], from: 5.1, ...adaptive, off: undefined, bindsThoughts: true },
  { lines: ["fable", "mythos"], from: 0, ...adaptive, off: undefined },
  { lines: ["opus"], from: 5.5, ...adaptive, off: undefined, bindsThoughts: true },
  { lines: ["sonnet"], from: 5.5, ...adaptive, off: { type: "between_tools" }, bindsThoughts: true },
  { lines: ["haiku"], from: 5.5, ...adaptive, off: { type: "disabled" }, bindsThoughts: true },
  { lines: every, from: 5, ...adaptive, off: { type: "disabled" } },
  { lines: every, from: 4.6, ...adaptive, off: null },
  { lines: ["opus"], from: 4.5, ...manual, effortMax: "high" },
  { lines: every, from: 4.5, ...manual },
  { lines: every, from: 3.7, ...manual, holdsSchemas: false },
  { lines: every, from: 0, ...manual, thinking: "none", holdsSchemas: false },
];

/** A line of Claude that is not known: new, so like the newest, and asked for nothing that it may refuse. */
const unknownClaude: ModelTraits = { ...adaptive, off: undefined, bindsThoughts: true };

/** Somebody else's model, on a server that speaks this wire: it knows the wire as it was for long. */
const foreign: ModelTraits = { ...manual, off: { type: "disabled" }, holdsSchemas: false };

/**
 * @example
 * traitsOf("claude-opus-4-5-20251101").thinking; // "manual"
 */
export function traitsOf(model: string): ModelTraits {
  const name = model.toLowerCase();
  if (!name.includes("claude")) return foreign;
  const known = lineOf(name);
  return rows.find(({ lines, from }) => known && lines.includes(known.line) && known.version >= from) ?? unknownClaude;
}

/** `claude-opus-4-5-20251101`, `anthropic.claude-3-7-sonnet…`, `claude-opus-4.5`, `claude-mythos-preview`. */
function lineOf(name: string): { line: string; version: number } | null {
  const now = /claude-([a-z]+)(?:-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?)?/.exec(name);
  if (now?.[1]) return { line: now[1], version: versionOf(now[2], now[3]) };
  const once = /claude-(\d)(?:[-.](\d))?-([a-z]+)/.exec(name);
  return once?.[3] ? { line: once[3], version: versionOf(once[1], once[2]) } : null;
}

/** As a number that can be compared: no line has had ten steps within one version. */
function versionOf(major = "0", minor = "0"): number {
  return Number(major) + Number(minor) / 10;
}
