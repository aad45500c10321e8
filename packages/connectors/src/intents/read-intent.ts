import type { Json } from "@troupe/core";
import { missing, type Phrase, type PhraseScope } from "../phrases/phrase.ts";
import { readEventTime } from "../phrases/read-event-time.ts";
import { type PeopleOptions, readPeople } from "../phrases/read-people.ts";
import { readTimeRange } from "../phrases/read-time-range.ts";
import { takeDuration } from "../phrases/take-duration.ts";
import { toLine } from "../ports/person.ts";
import { type IntentMatch, matchPatterns } from "./match-intent.ts";
import { type CompiledFile, type IntentDomain, type ParamKind, patternsOf } from "./pattern-file.ts";

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
  { nowMs, timeZone, ...people }: IntentOptions,
): Promise<IntentReading | null> {
  const file = patternsOf(domain);
  const match = matchPatterns(file, request);
  const scope = { nowMs, timeZone, people: async () => people };
  return match && (await readParams(match, file, request, scope));
}

/** The moment and place of a request, and the people that it can name. */
export interface ReadingScope extends PhraseScope {
  /** Called only for a request that names people. Null for a domain without people. */
  people: (() => Promise<PeopleOptions>) | null;
}

/** Reads the parameters of a request that matches a pattern of this file. Throws `params` like `readIntent`. */
export async function readParams(
  { words, ...match }: IntentMatch,
  file: CompiledFile,
  request: string,
  options: ReadingScope,
): Promise<IntentReading> {
  const pattern = file.patterns.find(({ name }) => name === match.pattern);
  const reading: IntentReading = { ...match, params: {}, assumptions: [] };
  for (const [param, kind] of Object.entries(pattern?.params ?? {})) {
    const value = await readParam(kind, words[param], { times: file.times, request, options, reading });
    if (value !== null) reading.params[param] = value;
    else if (pattern?.requires.includes(param)) {
      throw missing(param, `the request names no ${param}`, `say it in the request, and not only ${match.pattern}`);
    }
  }
  return reading;
}

interface ReadScope {
  times: CompiledFile["times"];
  request: string;
  options: ReadingScope;
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
  const { people: contacts } = scope.options;
  if (contacts === null) throw missing("people", "this domain knows no people", "use a parameter of the kind line");
  const options = await contacts();
  if (/^(?:i|me|we|us|my|myself)$/i.test(words)) return [{ ...options.user }];
  const { people, assumptions } = await readPeople(words, options);
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

async function readRange({ times: direction, request, options, reading }: ReadScope): Promise<Json> {
  const range = await readTimeRange(request, { ...options, direction });
  if (!range) return null;
  reading.assumptions.push(...range.assumptions);
  return { from: range.from, to: range.to };
}

function readLimit(request: string): number | null {
  const count = Number(/\b(\d{1,4}) (?:messages?|posts?|mails?|emails?)\b/i.exec(request)?.[1] ?? 0);
  return count > 0 ? Math.min(count, 100) : null;
}
