import type { MessageCreateParams } from "@anthropic-ai/sdk/resources/messages";

/** Differences between models of this API. */
export interface ModelTraits {
  /** `adaptive`: the model decides how much it thinks; `manual`: the request sets a token budget. */
  thinking: "adaptive" | "manual" | "none";
  /** The field that turns thinking off. Null: no field is needed; undefined: thinking cannot be turned off. */
  off: NonNullable<MessageCreateParams["thinking"]> | null | undefined;
  /** The highest effort that it accepts; null when it has no effort setting. */
  effortMax: "high" | "max" | null;
  /** Accepts its thinking only after exactly the same conversation. */
  bindsThinking: boolean;
  /** Supports structured output with a JSON schema. */
  holdsSchemas: boolean;
}

interface Row extends ModelTraits {
  lines: readonly string[];
  /** The first version with these traits. */
  from: number;
}

const adaptive = { thinking: "adaptive", effortMax: "max", bindsThinking: false, holdsSchemas: true } as const;
const manual = { thinking: "manual", off: null, effortMax: null, bindsThinking: false, holdsSchemas: true } as const;
const every = ["fable", "mythos", "opus", "sonnet", "haiku"];

/**
 * Traits by model line and version, newest first. The first matching row wins, so a model newer than this table is
 * treated like the newest of its line.
 */
const rows: readonly Row[] = [
  { lines: ["fable", "mythos"], from: 5.1, ...adaptive, off: undefined, bindsThinking: true },
  { lines: ["fable", "mythos"], from: 0, ...adaptive, off: undefined },
  { lines: ["opus"], from: 5.5, ...adaptive, off: undefined, bindsThinking: true },
  { lines: ["sonnet"], from: 5.5, ...adaptive, off: { type: "between_tools" }, bindsThinking: true },
  { lines: ["haiku"], from: 5.5, ...adaptive, off: { type: "disabled" }, bindsThinking: true },
  { lines: every, from: 5, ...adaptive, off: { type: "disabled" } },
  { lines: every, from: 4.6, ...adaptive, off: null },
  { lines: ["opus"], from: 4.5, ...manual, effortMax: "high" },
  { lines: every, from: 4.5, ...manual },
  { lines: every, from: 3.7, ...manual, holdsSchemas: false },
  { lines: every, from: 0, ...manual, thinking: "none", holdsSchemas: false },
];

/** An unknown line of Claude is new: treated like the newest, without any field that it may refuse. */
const unknownClaude: ModelTraits = { ...adaptive, off: undefined, bindsThinking: true };

/** Another vendor's model on a server with this API: it knows the long-standing fields. */
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
  const current = /claude-([a-z]+)(?:-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?)?/.exec(name);
  if (current?.[1]) return { line: current[1], version: versionOf(current[2], current[3]) };
  const old = /claude-(\d)(?:[-.](\d))?-([a-z]+)/.exec(name);
  return old?.[3] ? { line: old[3], version: versionOf(old[1], old[2]) } : null;
}

/** As a comparable number: no version has had a tenth minor version. */
function versionOf(major = "0", minor = "0"): number {
  return Number(major) + Number(minor) / 10;
}
