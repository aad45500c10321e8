import type { Json } from "@troupe/core";
import { missing, type Phrase, type PhraseScope } from "../phrases/phrase.ts";
import { readEventTime } from "../phrases/read-event-time.ts";
import { type PeopleOptions, readPeople } from "../phrases/read-people.ts";
import { readTimeRange } from "../phrases/read-time-range.ts";
import { takeDuration } from "../phrases/take-duration.ts";
import { toLine } from "../ports/person.ts";
import { type IntentMatch, matchIntent } from "./match-intent.ts";
import { type IntentDomain, type ParamKind, patternsOf } from "./pattern-file.ts";

/** Everything that a request says about a call, by a pattern and without a model. */
export interface IntentReading extends Omit<IntentMatch, "words"> {
  /** By the names of the pattern file. Absent: the request does not name it. */
  params: Record<string, Json>;
  /** Sentences about everything that the request leaves open. */
  assumptions: string[];
}

/** Options of `readIntent`. */
export interface IntentOptions extends PhraseScope, PeopleOptions {}

/**
 * Matches a request and reads its parameters: people by the contacts, times in words, channels. Null if no pattern fits. Throws
 * `params` for a request whose parameters are missing or wrong; the message says which.
 *
 * @example
 * const scope = { nowMs: Date.now(), timeZone: "Europe/Berlin", contacts: office.contacts, user };
 * const reading = await readIntent("calendar", "Schedule a meeting with Mara next Tuesday 2pm", scope);
 */
export async function readIntent(
  domain: IntentDomain,
  request: string,
  options: IntentOptions,
): Promise<IntentReading | null> {
  const match = matchIntent(domain, request);
  if (!match) return null;
  const { words, ...rest } = match;
  const pattern = patternsOf(domain).patterns.find(({ name }) => name === match.pattern);
  const reading: IntentReading = { ...rest, params: {}, assumptions: [] };
  for (const [param, kind] of Object.entries(pattern?.params ?? {})) {
    const value = await readParam(kind, words[param], { domain, request, options, reading });
    if (value !== null) reading.params[param] = value;
    else if (pattern?.requires.includes(param)) {
      throw missing(param, `the request names no ${param}`, `say it in the request, and not only ${match.pattern}`);
    }
  }
  return reading;
}

interface ReadScope {
  domain: IntentDomain;
  request: string;
  options: IntentOptions;
  reading: IntentReading;
}

/** Null if the request does not name it. */
async function readParam(kind: ParamKind, words: string | undefined, scope: ReadScope): Promise<Json> {
  switch (kind) {
    case "eventTime":
      return readStart(scope);
    case "range":
      return readRange(scope);
    case "minutes":
      return takeDuration({ text: scope.request, assumptions: [] } satisfies Phrase);
    case "limit":
      return readLimit(scope.request);
    case "flag":
      return words === undefined ? null : true;
    default:
      return words === undefined ? null : readWords(kind, words, scope);
  }
}

async function readWords(
  kind: "line" | "text" | "word" | "people" | "channel",
  words: string,
  scope: ReadScope,
): Promise<Json> {
  if (kind === "text") return unquoted(words);
  if (kind === "channel") return words.replace(/^#/, "").toLowerCase();
  if (kind === "word") return words.replace(/[?.!,;]+$/, "");
  if (kind === "line") return unquoted(toLine(words)).replace(/[?.!,;]+$/, "");
  if (/^(?:i|me|we|us|my|myself)$/i.test(words)) return [{ ...scope.options.user }];
  const { people, assumptions } = await readPeople(words, scope.options);
  scope.reading.assumptions.push(...assumptions);
  return people.map((person) => ({ ...person }));
}

function unquoted(text: string): string {
  return text.trim().replace(/^(["'“‘])(.*)["'”’]$/s, "$2");
}

async function readStart({ request, options, reading }: ReadScope): Promise<Json> {
  const { assumptions, start, end, ...rest } = await readEventTime(request, options);
  reading.assumptions.push(...assumptions);
  return { ...rest, start: { ...start }, end: { ...end } };
}

async function readRange({ domain, request, options, reading }: ReadScope): Promise<Json> {
  const direction = domain === "calendar" ? "future" : "past";
  const range = await readTimeRange(request, { ...options, direction });
  if (!range) return null;
  reading.assumptions.push(...range.assumptions);
  return { from: range.from, to: range.to };
}

function readLimit(request: string): number | null {
  const count = Number(/\b(\d{1,4}) (?:messages?|posts?|mails?|emails?)\b/i.exec(request)?.[1] ?? 0);
  return count > 0 ? Math.min(count, 100) : null;
}
