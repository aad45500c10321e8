import { decodeEscapes, escapeOpenFrom } from "./escapes.ts";
import { createNeedleFinder, type Match, type Needle, type NeedleFinder } from "./needles.ts";
import { findShapes, mayHaveShape, shapeKinds, shapeOpenFrom } from "./shapes.ts";
import { jsonEscaped, variantsOf } from "./variants.ts";

/** A secret value, and the name that replaces it in texts, such as the name of its variable. */
export interface Secret {
  name: string;
  value: string;
}

/** Removes secrets from texts. A text without secrets stays unchanged, byte for byte. */
export interface Redactor {
  text(text: string): string;
  /** Redacts every string and key within a value. Returns the same value, not a copy, if nothing was found. */
  json<T>(value: T): T;
  /** Redacts a text in chunks. The joined output equals `text` of the whole. */
  stream(): RedactedStream;
  /** A quick check of a value's JSON: false means that `json` would change nothing. */
  mayBeIn(json: string): boolean;
}

export interface RedactedStream {
  /** Returns the redacted text so far. A tail that may become a secret is held back. */
  push(chunk: string): string;
  /** Ends the text and returns the rest. */
  flush(): string;
}

export interface RedactorOptions {
  /** Known secrets. Values shorter than eight characters are ignored, because they would match everywhere. */
  values?: readonly Secret[];
  /** Whether to detect unknown secrets by their format as well: API keys, private keys, passwords in URLs. @default true */
  shapes?: boolean;
}

const valueLengthMin = 8;
const markStart = "[redacted: ";

/** One way to detect secrets. */
interface Detector {
  /** @param before the character before the text */
  find(text: string, before: string): Match[];
  /** The first index from which the rest of the text may be an incomplete secret. */
  openFrom(text: string): number;
}

/**
 * Creates a redactor for known values, in all common encodings, and for texts with the format of a secret. Each is replaced
 * by a mark with its name. Redacting a text twice gives the same result as redacting it once.
 *
 * @example
 * const redactor = createRedactor({ values: [{ name: "SHOP_KEY", value: "correct horse" }] });
 * redactor.text("the key is correct horse"); // "the key is [redacted: SHOP_KEY]"
 */
export function createRedactor({ values = [], shapes = true }: RedactorOptions = {}): Redactor {
  const kinds = shapes ? shapeKinds : [];
  const marks = [...new Set([...values.map(({ name }) => markOf(name)), ...kinds.map(markOf)])];
  const needles = needlesOf(values, marks);
  const known = knownValues(needles, marks);
  const escaped = escapedValues(needles, marks);
  const detectors: readonly Detector[] = shapes ? [known, escaped, shapeDetector] : [known, escaped];
  const inJson = needles.map((needle) => ({ ...needle, text: jsonEscaped(needle.text) }));
  const jsonFinder = createNeedleFinder(inJson);
  const decodedJsonFinder = createNeedleFinder(withDecoded([...needles, ...inJson]));
  const isIn = (finder: NeedleFinder, text: string): boolean => finder.find(text, 0) !== null;

  const text = (given: string): string => detectors.reduce(redactedBy, given);
  return {
    text,
    json: (value) => mapStrings(value, text),
    stream: () => joined(detectors.map(streamOf)),
    mayBeIn: (json) =>
      isIn(jsonFinder, json) ||
      isIn(decodedJsonFinder, decodeEscapes(json)?.text ?? "") ||
      (shapes && mayHaveShape(json)),
  };
}

function markOf(name: string): string {
  return `[redacted: ${name.replace(/[^\w .-]/g, "_").slice(0, 64)}]`;
}

/** Without values that occur in a mark. */
function needlesOf(values: readonly Secret[], marks: readonly string[]): Needle[] {
  const needles = new Map<string, Needle>();
  for (const { name, value } of values) {
    if (value.length < valueLengthMin) continue;
    for (const { text, wraps } of variantsOf(value)) {
      if (!needles.has(text) && !marks.some((mark) => mark.includes(text))) {
        needles.set(text, { text, wraps, mark: markOf(name) });
      }
    }
  }
  return [...needles.values()];
}

/** Detects known values as they are. */
function knownValues(needles: readonly Needle[], marks: readonly string[]): Detector {
  const finder = createNeedleFinder(needles);
  return betweenMarks(marks, { find: (text) => matchesOf(finder, text), openFrom: finder.openFrom });
}

/** Detects known values of which any number of characters is escaped. */
function escapedValues(needles: readonly Needle[], marks: readonly string[]): Detector {
  // A secret that contains a mark is not found anyway: marks stay unchanged.
  const finder = createNeedleFinder(withDecoded(needles).filter(({ text }) => !text.includes(markStart)));
  return betweenMarks(marks, {
    find(text) {
      const decoded = decodeEscapes(text);
      if (decoded === null) return [];
      const { originalIndex } = decoded;
      return matchesOf(finder, decoded.text).map(({ start, end, mark }) => ({
        start: originalIndex(start),
        end: originalIndex(end),
        mark,
      }));
    },
    openFrom(text) {
      const complete = text.slice(0, escapeOpenFrom(text));
      const decoded = decodeEscapes(complete);
      if (decoded === null) return finder.openFrom(complete);
      return decoded.originalIndex(finder.openFrom(decoded.text));
    },
  });
}

/** Adds what a needle becomes where the text around it is decoded: a secret may contain an escape by itself. */
function withDecoded(needles: readonly Needle[]): Needle[] {
  const decoded = needles.flatMap((needle) => {
    const text = decodeEscapes(needle.text)?.text ?? "";
    return text.length < valueLengthMin ? [] : [{ ...needle, text }];
  });
  return [...needles, ...decoded];
}

function matchesOf(finder: NeedleFinder, text: string): Match[] {
  const matches: Match[] = [];
  for (let match = finder.find(text, 0); match; match = finder.find(text, match.end)) matches.push(match);
  return matches;
}

/** Lets a detector look between existing marks only, so that they stay unchanged. */
function betweenMarks(
  marks: readonly string[],
  detector: Pick<Detector, "openFrom"> & { find(text: string): Match[] },
): Detector {
  const markPattern = new RegExp(marks.map((mark) => mark.replace(/[.[\]]/g, "\\$&")).join("|") || "(?!)", "g");

  return {
    find(text) {
      if (!text.includes(markStart)) return detector.find(text);
      const matches: Match[] = [];
      let from = 0;
      const findUpTo = (until: number): void => {
        for (const { start, end, mark } of detector.find(text.slice(from, until))) {
          matches.push({ start: from + start, end: from + end, mark });
        }
      };
      for (const { index, 0: mark } of text.matchAll(markPattern)) {
        findUpTo(index);
        from = index + mark.length;
        matches.push({ start: index, end: from, mark });
      }
      findUpTo(text.length);
      return matches;
    },
    openFrom(text) {
      const bracket = text.lastIndexOf("[");
      const tail = text.slice(bracket);
      const inMark = bracket !== -1 && marks.some((mark) => mark.length > tail.length && mark.startsWith(tail));
      return Math.min(detector.openFrom(text), inMark ? bracket : text.length);
    },
  };
}

const shapeDetector: Detector = {
  find: (text, before) =>
    before === ""
      ? findShapes(text, markOf)
      : findShapes(before + text, markOf).map(({ start, end, mark }) => ({
          start: start - before.length,
          end: end - before.length,
          mark,
        })),
  openFrom: shapeOpenFrom,
};

function redactedBy(text: string, detector: Detector): string {
  return replaced(text, detector.find(text, ""));
}

function replaced(text: string, matches: readonly Match[]): string {
  if (matches.length === 0) return text;
  let from = 0;
  let result = "";
  for (const { start, end, mark } of matches) {
    result += text.slice(from, start) + mark;
    from = end;
  }
  return result + text.slice(from);
}

/**
 * Redacts a text in chunks with one detector. It holds back the open end of the text, and every match that reaches into it.
 * The text before is final.
 */
function streamOf(detector: Detector): RedactedStream {
  let pending = "";
  /** The character before `pending`: a shape begins only at the start of a word. */
  let before = "";
  const take = (cut: number, matches: readonly Match[]): string => {
    const redacted = replaced(
      pending.slice(0, cut),
      matches.filter(({ end }) => end <= cut),
    );
    before = cut > 0 ? pending.slice(cut - 1, cut) : before;
    pending = pending.slice(cut);
    return redacted;
  };
  return {
    push(chunk) {
      if (chunk === "") return "";
      pending += chunk;
      const matches = detector.find(pending, before);
      return take(closedUpTo(detector.openFrom(pending), matches), matches);
    },
    flush: () => (pending === "" ? "" : take(pending.length, detector.find(pending, before))),
  };
}

/** A match across the border is still open as a whole. */
function closedUpTo(openFrom: number, matches: readonly Match[]): number {
  const across = matches.find(({ start, end }) => start < openFrom && openFrom < end);
  return across?.start ?? openFrom;
}

/** Chains streams: each one reads the output of the one before. */
function joined(streams: readonly RedactedStream[]): RedactedStream {
  return {
    push: (chunk) => streams.reduce((text, stream) => stream.push(text), chunk),
    flush: () => streams.reduce((text, stream) => stream.push(text) + stream.flush(), ""),
  };
}

/** Maps all strings of plain objects and arrays. Other values stay unchanged. */
function mapStrings<T>(value: T, map: (text: string) => string): T {
  if (typeof value === "string") return map(value) as T;
  if (Array.isArray(value)) return mapItems(value, map) as T;
  return isPlain(value) ? (mapFields(value, map) as T) : value;
}

function mapItems(items: readonly unknown[], map: (text: string) => string): readonly unknown[] {
  const mapped = items.map((item) => mapStrings(item, map));
  return mapped.every((item, i) => Object.is(item, items[i])) ? items : mapped;
}

function mapFields(fields: object, map: (text: string) => string): object {
  const entries = Object.entries(fields);
  const mapped = entries.map(([key, value]) => [map(key), mapStrings(value, map)] as const);
  if (mapped.every(([key, value], i) => key === entries[i]?.[0] && Object.is(value, entries[i]?.[1]))) return fields;
  // Two keys may become equal, so the second one gets a number. `fromEntries` treats `__proto__` as a plain key.
  const names = new Set<string>();
  return Object.fromEntries(mapped.map(([key, value]) => [unusedName(key, names), value]));
}

function unusedName(wanted: string, names: Set<string>): string {
  let name = wanted;
  for (let count = 2; names.has(name); count += 1) name = `${wanted} (${count})`;
  names.add(name);
  return name;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
