import { createNeedleFinder, type Find, type Needle } from "./needles.ts";
import { findShapes, mayHaveShape, shapeKinds, shapeOpenFrom } from "./shapes.ts";
import { jsonEscaped, variantsOf } from "./variants.ts";

/** A value that must not be written anywhere, and the name that stands for it where it was: a variable's, say. */
export interface Secret {
  name: string;
  value: string;
}

/** Takes secrets out of whatever is about to be written. What has none in it stays as it is, byte for byte. */
export interface Redactor {
  text(text: string): string;
  /** The same for every string and every key within a value: the same value, not a copy, where nothing was found. */
  json<T>(value: T): T;
  /** For a text that comes in pieces: together they give what `text` gives of the whole. */
  stream(): RedactedStream;
  /** A quick look at the JSON of a value: where it says no, `json` would change nothing. */
  mayBeIn(json: string): boolean;
}

export interface RedactedStream {
  /** What can be shown by now: a tail that may become a secret is kept back. */
  push(chunk: string): string;
  /** What was kept back: nothing more comes. */
  flush(): string;
}

export interface RedactorOptions {
  /** Those shorter than eight characters are left out: they would be found everywhere. */
  values?: readonly Secret[];
  /** Whether to look for what has the shape of a secret as well: the keys of vendors, private keys, passwords in URLs. @default true */
  shapes?: boolean;
}

/** What is shorter is part of too many words. */
const valueLengthMin = 8;

/** What one look does to a text: where it finds what, and from where on it has to wait for more. */
interface Look {
  finds(text: string, before: string): Find[];
  openFrom(text: string): number;
}

/**
 * What takes secrets out of texts: values that are known, in all the forms that programs make of them, and what has the
 * shape of one. Each is replaced by a mark that says what stood there, and a mark is never taken for anything else: what
 * has been redacted once stays as it is.
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
  const looks: readonly Look[] = shapes ? [known, shapesLook] : [known];
  const inJson = createNeedleFinder(needles.map((needle) => ({ ...needle, text: jsonEscaped(needle.text) })));

  const text = (given: string): string => looks.reduce(redactedBy, given);
  return {
    text,
    json: (value) => mapStrings(value, text),
    stream: () => joined(looks.map(streamOf)),
    mayBeIn: (json) => inJson.find(json, 0) !== null || (shapes && mayHaveShape(json)),
  };
}

function markOf(name: string): string {
  return `[redacted: ${name.replace(/[^\w .-]/g, "_").slice(0, 64)}]`;
}

/** Nothing that a mark itself contains can be looked for. */
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

const anyMark = "[redacted: ";

/** Marks are found first, and stand for themselves: a secret is looked for between them. */
function knownValues(needles: readonly Needle[], marks: readonly string[]): Look {
  const finder = createNeedleFinder(needles);
  const anyOfMarks = new RegExp(marks.map((mark) => mark.replace(/[.[\]]/g, "\\$&")).join("|") || "(?!)", "g");

  const findsBetween = (text: string): Find[] => {
    const finds: Find[] = [];
    for (let find = finder.find(text, 0); find; find = finder.find(text, find.end)) finds.push(find);
    return finds;
  };

  return {
    finds(text) {
      if (!text.includes(anyMark)) return findsBetween(text);
      const finds: Find[] = [];
      let from = 0;
      const lookUpTo = (end: number): void => {
        for (const { start, end: until, mark } of findsBetween(text.slice(from, end))) {
          finds.push({ start: from + start, end: from + until, mark });
        }
      };
      for (const { index, 0: mark } of text.matchAll(anyOfMarks)) {
        lookUpTo(index);
        from = index + mark.length;
        finds.push({ start: index, end: from, mark });
      }
      lookUpTo(text.length);
      return finds;
    },
    openFrom(text) {
      const bracket = text.lastIndexOf("[");
      const tail = text.slice(bracket);
      const inMark = bracket !== -1 && marks.some((mark) => mark.length > tail.length && mark.startsWith(tail));
      return Math.min(finder.openFrom(text), inMark ? bracket : text.length);
    },
  };
}

const shapesLook: Look = {
  finds: (text, before) =>
    before === ""
      ? findShapes(text, markOf)
      : findShapes(before + text, markOf).map(({ start, end, mark }) => ({
          start: start - before.length,
          end: end - before.length,
          mark,
        })),
  openFrom: shapeOpenFrom,
};

function redactedBy(text: string, look: Look): string {
  return replaced(text, look.finds(text, ""));
}

function replaced(text: string, finds: readonly Find[]): string {
  if (finds.length === 0) return text;
  let from = 0;
  let made = "";
  for (const { start, end, mark } of finds) {
    made += text.slice(from, start) + mark;
    from = end;
  }
  return made + text.slice(from);
}

/**
 * One look at a text in pieces. What is open at the end of what came so far, and whatever reaches into it, is kept back;
 * what lies before is as it will be in the whole.
 */
function streamOf(look: Look): RedactedStream {
  let kept = "";
  /** The character before what is kept: a shape begins only where none of a word stands there. */
  let before = "";
  const show = (cut: number, finds: readonly Find[]): string => {
    const shown = replaced(
      kept.slice(0, cut),
      finds.filter(({ end }) => end <= cut),
    );
    before = cut > 0 ? kept.slice(cut - 1, cut) : before;
    kept = kept.slice(cut);
    return shown;
  };
  return {
    push(chunk) {
      if (chunk === "") return "";
      kept += chunk;
      const finds = look.finds(kept, before);
      return show(closedUpTo(look.openFrom(kept), finds), finds);
    },
    flush: () => (kept === "" ? "" : show(kept.length, look.finds(kept, before))),
  };
}

/** What is found across the border is still open as a whole. */
function closedUpTo(openFrom: number, finds: readonly Find[]): number {
  const across = finds.find(({ start, end }) => start < openFrom && openFrom < end);
  return across?.start ?? openFrom;
}

/** One after another: what the first lets go is looked at by the next. */
function joined(streams: readonly RedactedStream[]): RedactedStream {
  return {
    push: (chunk) => streams.reduce((text, stream) => stream.push(text), chunk),
    flush: () => streams.reduce((text, stream) => stream.push(text) + stream.flush(), ""),
  };
}

/** Goes through plain objects and arrays; what else there may be is left alone. */
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
  // Two keys may be one secret in two forms: both fields stay. `fromEntries` takes `__proto__` for a name like others.
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
