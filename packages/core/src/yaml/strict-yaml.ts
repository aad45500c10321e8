import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { z } from "zod";
import { type ErrorCode, TroupeError } from "../errors.ts";
import { expectedDuration } from "../text/duration.ts";
import { didYouMean } from "../text/nearest-names.ts";

/** The format of a settings file, and the help in its errors. */
export interface YamlForm<S extends z.ZodType> {
  /** Made of strict objects, so that unknown keys are errors. */
  schema: S;
  code: ErrorCode;
  /** Noun with its article, as in "policy.yaml is not a policy". */
  what: string;
  /** The step that corrects an invalid value. */
  fixFor(path: readonly PropertyKey[], value: unknown): string;
  /** The step that corrects an unknown key. Null suggests a similar key, or lists the known ones. */
  fixForKey?(path: readonly PropertyKey[]): string | null;
  /** Renders an invalid value for the message; null hides it. @default null */
  show?(value: unknown, path: readonly PropertyKey[]): string | null;
  /** Renders a key for the message. @default unchanged */
  showKey?(key: string): string;
}

export interface StrictYaml<T> {
  value: T;
  /** The line of a key, or of its nearest parent. */
  lineOf(path: readonly PropertyKey[]): number;
}

/**
 * Parses a settings file strictly: an unknown key or invalid value is an error with its line and a fix. A file with only
 * comments is an empty object.
 *
 * @example
 * const form = { schema: z.strictObject({ risk: z.string() }), code: "INVALID_POLICY", what: "a policy", fixFor: () => "" };
 * parseStrictYaml("risk: high", "policy.yaml", form).value.risk; // "high"
 */
export function parseStrictYaml<S extends z.ZodType>(
  text: string,
  file: string,
  form: YamlForm<S>,
): StrictYaml<z.output<S>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) {
    const problems = errors.map(({ message, pos }) => ({ line: lines.linePos(pos[0]).line, message, fix: null }));
    throw invalid(file, form, problems);
  }
  const parsed = form.schema.safeParse(valueIn(document, file, form) ?? {});
  if (!parsed.success) throw invalid(file, form, problemsIn(parsed.error, document, lines, form));
  return { value: parsed.data, lineOf: (path) => lineOf(document, path, lines) };
}

interface YamlProblem {
  line: number;
  message: string;
  fix: string | null;
}

type Form = YamlForm<z.ZodType>;

/** The library throws here for aliases that would expand without bounds. */
function valueIn(document: Document, file: string, form: Form): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw invalid(file, form, [{ line: 1, message, fix: null }]);
  }
}

function problemsIn(error: z.ZodError, document: Document, lines: LineCounter, form: Form): YamlProblem[] {
  const problems = error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        return unknownKey(path, lineOf(document, path, lines), form);
      });
    }
    const value = document.getIn(issue.path);
    // An invalid key has its own message, and its value does not matter.
    const isKey = issue.code === "invalid_key";
    const shown = isKey ? null : (form.show?.(value, issue.path) ?? null);
    const expected = shown === null ? null : expectedDuration(issue);
    const text = (isKey && issue.issues[0]?.message) || (expected ?? issue.message);
    const message = [nameOf(issue.path, form), text].filter((part) => part !== "").join(": ");
    return [
      {
        line: lineOf(document, issue.path, lines),
        message: shown === null ? message : `${message} (it is ${shown})`,
        fix: form.fixFor(issue.path, value),
      },
    ];
  });
  return problems.sort((a, b) => a.line - b.line);
}

function nameOf(path: readonly PropertyKey[], { showKey = String }: Form): string {
  return path.map((key) => showKey(String(key))).join(".");
}

function unknownKey(path: readonly PropertyKey[], line: number, form: Form): YamlProblem {
  const known = keysAt(form.schema, path.slice(0, -1));
  const fix = form.fixForKey?.(path) ?? didYouMean(String(path.at(-1)), known) ?? `use one of: ${known.join(", ")}`;
  return { line, message: `${nameOf(path, form)}: there is no such key`, fix };
}

/** The known keys at a path. */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const bare = unwrapped(schema);
  const [key, ...rest] = path;
  if (bare instanceof z.ZodRecord) return key === undefined ? [] : keysAt(bare.valueType, rest);
  if (!(bare instanceof z.ZodObject)) return [];
  if (key === undefined) return Object.keys(bare.shape);
  const inner = Object.hasOwn(bare.shape, key) ? bare.shape[String(key)] : undefined;
  return inner ? keysAt(inner, rest) : [];
}

/** Removes wrappers such as optional, default and preprocess. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.out);
  const inner = "innerType" in schema._zod.def ? schema._zod.def.innerType : null;
  return inner instanceof z.ZodType ? unwrapped(inner) : schema;
}

function invalid(file: string, { code, what }: Form, problems: readonly YamlProblem[]): TroupeError {
  const [first] = problems;
  const shown = problems.slice(0, problemsShown).map(({ line, message }) => `line ${line}: ${message}`);
  const more = problems.length > problemsShown ? ` (and ${problems.length - problemsShown} more)` : "";
  const where = `line ${first?.line ?? 1} of ${baseNameOf(file)}`;
  return new TroupeError(code, `${file} is not ${what}: ${shown.join("; ")}${more}`, {
    fix: first?.fix ? `${where}: ${first.fix}` : `correct ${where}`,
  });
}

const problemsShown = 3;

/** The last segment of a path, on POSIX and on Windows. */
function baseNameOf(file: string): string {
  return file.split(/[\\/]/).at(-1) ?? file;
}

/** The line of a key or list item, or of its nearest existing parent. */
export function lineOf(document: Document, path: readonly PropertyKey[], lines: LineCounter): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const node = childOf(parent, path[length - 1]);
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

/** Returns the key of a pair, because its value may begin on a later line. */
function childOf(parent: unknown, key: PropertyKey | undefined): Node | null {
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
    return isNode(pair?.key) ? pair.key : null;
  }
  const item = isSeq(parent) && typeof key === "number" ? parent.items[key] : null;
  return isNode(item) ? item : null;
}
