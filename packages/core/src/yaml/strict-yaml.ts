import { type Document, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { type ErrorCode, TroupeError } from "../errors.ts";
import { didYouMean } from "../text/nearest-names.ts";
import { lineOf } from "./yaml-lines.ts";

/** What a file of settings is, and how its owner is helped where it is wrong. */
export interface YamlForm<S extends z.ZodType> {
  /** Of strict objects: every mistake is told, none is passed over. */
  schema: S;
  code: ErrorCode;
  /** With its article, as in "policy.yaml is not a policy". */
  what: string;
  /** The one step that mends a value that does not fit its key. */
  fixFor(path: readonly PropertyKey[], value: unknown): string;
  /** What to do about a key that nobody knows, where more helps than the names of those there are. */
  fixForKey?(path: readonly PropertyKey[]): string | null;
  /** A value that does not fit, for its owner to recognise; null for one that nobody is to see. @default null */
  show?(value: unknown, path: readonly PropertyKey[]): string | null;
  /** A key, for its owner to recognise. @default as it is */
  showKey?(key: string): string;
}

export interface StrictYaml<T> {
  value: T;
  /** The line of a key, or of the nearest one around it. */
  lineOf(path: readonly PropertyKey[]): number;
}

/**
 * A file of settings that holds to the letter: what is no key of its form, or fits none, is an error with its line and
 * what mends it. A file of nothing but comments says nothing.
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
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.map(({ message, pos }) => ({ line: lines.linePos(pos[0]).line, message, fix: null }));
    throw invalid(file, form, problems);
  }
  const parsed = form.schema.safeParse(valueIn(document, file, form) ?? {});
  if (!parsed.success) throw invalid(file, form, problemsIn(parsed.error, document, lines, form));
  return { value: parsed.data, lineOf: (path) => lineOf(document, path, lines) };
}

interface Problem {
  line: number;
  message: string;
  fix: string | null;
}

type Form = YamlForm<z.ZodType>;

/** Aliases that would grow into a bomb are refused here, by the library. */
function valueIn(document: Document, file: string, form: Form): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw invalid(file, form, [{ line: 1, message, fix: null }]);
  }
}

function problemsIn(error: z.ZodError, document: Document, lines: LineCounter, form: Form): Problem[] {
  const problems = error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        return unknownKey(path, lineOf(document, path, lines), form);
      });
    }
    const value = document.getIn(issue.path);
    // Of a key that cannot be one, its own words: what stands behind it does not matter.
    const isKey = issue.code === "invalid_key";
    const shown = isKey ? null : (form.show?.(value, issue.path) ?? null);
    const words = (isKey && issue.issues[0]?.message) || issue.message;
    const message = [nameOf(issue.path, form), words].filter((part) => part !== "").join(": ");
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

function unknownKey(path: readonly PropertyKey[], line: number, form: Form): Problem {
  const known = keysAt(form.schema, path.slice(0, -1));
  const fix = form.fixForKey?.(path) ?? didYouMean(String(path.at(-1)), known) ?? `use one of: ${known.join(", ")}`;
  return { line, message: `${nameOf(path, form)}: there is no such key`, fix };
}

/** The keys that may stand at a place of a file. */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const bare = unwrapped(schema);
  const [key, ...rest] = path;
  if (bare instanceof z.ZodRecord) return key === undefined ? [] : keysAt(bare.valueType, rest);
  if (!(bare instanceof z.ZodObject)) return [];
  if (key === undefined) return Object.keys(bare.shape);
  const inner = Object.hasOwn(bare.shape, key) ? bare.shape[String(key)] : undefined;
  return inner ? keysAt(inner, rest) : [];
}

/** Without what makes a schema optional, or prepares its input. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.out);
  const inner = "innerType" in schema._zod.def ? schema._zod.def.innerType : null;
  return inner instanceof z.ZodType ? unwrapped(inner) : schema;
}

function invalid(file: string, { code, what }: Form, problems: readonly Problem[]): TroupeError {
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
