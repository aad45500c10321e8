import type { Risk } from "@troupe/core";
import { type CompiledFile, type CompiledPattern, type IntentDomain, patternsOf } from "./pattern-file.ts";

/** The pattern that a request matches, with the words of its parameters. */
export interface IntentMatch {
  domain: CompiledFile["domain"];
  /** The name of the pattern. */
  pattern: string;
  /** In the order of their calls. */
  tools: readonly string[];
  risk: Risk;
  /** The words of each parameter that the request names. */
  words: Readonly<Record<string, string>>;
}

/** A longer request is a text, and not an instruction of one line. */
const charactersMax = 2_000;

/**
 * The first pattern of a domain that a request matches. No model is called. Null if none fits.
 *
 * @example
 * matchIntent("slack", "Summarize recent discussions in #project-alpha channel")?.tools;
 * // ["slack_get_channel_messages", "slack_analyze_conversation"]
 */
export function matchIntent(domain: IntentDomain, request: string): IntentMatch | null {
  return matchPatterns(patternsOf(domain), request);
}

/** The first of these patterns that a request matches. Null if none fits. */
export function matchPatterns({ domain: name, except, patterns }: CompiledFile, request: string): IntentMatch | null {
  const text = request.normalize("NFC").replace(/\s+/g, " ").trim();
  if (text.length > charactersMax) return null;
  if (except.some((expression) => expression.test(text))) return null;
  for (const pattern of patterns) {
    const match = pattern.expression.exec(text);
    if (match) return toMatch(name, pattern, match.groups ?? {});
  }
  return null;
}

function toMatch(
  domain: CompiledFile["domain"],
  { name, tools, risk }: CompiledPattern,
  groups: Record<string, string>,
): IntentMatch {
  const words: Record<string, string> = {};
  for (const [group, value] of Object.entries(groups)) {
    // A pattern with alternatives has groups such as `to` and `to2` for one parameter.
    const param = group.replace(/\d+$/, "");
    if (value !== undefined && value.trim() !== "") words[param] ??= value.trim();
  }
  return { domain, pattern: name, tools, risk, words };
}
