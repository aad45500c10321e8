import { readFile } from "node:fs/promises";
import * as core from "@troupe/core";
import * as internal from "@troupe/core/internal";
import { z } from "zod";

/** The documentation of the `--json` output of a command. */
export interface DocumentedOutput {
  /** A command, or a command with a flag: `sessions show --log`. */
  row: string;
  kind: "one" | "array" | "lines";
  /** The output has one of these shapes. */
  shapes: Shape[];
  /** Names of schemas of the API. */
  names: string[];
}

interface Shape {
  /** A schema of the API, whose fields an output has as well. */
  name: string | null;
  required: string[];
  optional: string[];
  /** Further fields are possible. */
  isOpen: boolean;
}

const reference = new URL("../../../packages/cli/README.md", import.meta.url);

/** Reads the table of the reference. */
export async function readDocumentedOutputs(): Promise<DocumentedOutput[]> {
  const text = await readFile(reference, "utf8");
  const [section = ""] = text.split("\n## JSON output\n")[1]?.split("\n## ") ?? [];
  return [...section.matchAll(/^\| `([^`]+)` \| (.+?) \| .*\|$/gm)].map(([, row = "", output = ""]) => {
    const kind = output.startsWith("array of ") ? "array" : output.startsWith("lines of ") ? "lines" : "one";
    const shapes = output.split(" or ").map(shapeOf);
    return { row, kind, shapes, names: shapes.flatMap(({ name }) => name ?? []) };
  });
}

function shapeOf(text: string): Shape {
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
  const name = spans.find((span) => /^[A-Z]/.test(span)) ?? null;
  const fields = spans.flatMap((span) => (span.startsWith("{") ? span.slice(1, -1).split(", ") : []));
  return {
    name,
    required: fields.filter((field) => field !== "…" && !field.endsWith("?")),
    optional: fields.filter((field) => field.endsWith("?")).map((field) => field.slice(0, -1)),
    isOpen: fields.includes("…"),
  };
}

/** The ways in which an output differs from its documentation; none if it has one of the shapes. */
export function differencesOf({ kind, shapes }: DocumentedOutput, stdout: string): string[] {
  const lines = stdout.trim().split("\n");
  if (kind !== "lines" && lines.length !== 1) return [`${lines.length} lines`];
  const values = lines.flatMap((line): unknown[] => {
    const value: unknown = JSON.parse(line);
    return kind === "array" && Array.isArray(value) ? value : [value];
  });
  if (kind === "array" && !stdout.startsWith("[")) return ["not an array"];
  if (values.length === 0) return ["an empty array shows no field"];
  return values.flatMap((value) => {
    const found = shapes.map((shape) => differences(shape, value));
    return found.some((each) => each.length === 0) ? [] : (found[0] ?? []);
  });
}

function differences({ name, required, optional, isOpen }: Shape, value: unknown): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return ["not an object"];
  const own = new Set(Object.keys(value));
  const missing = required.filter((field) => !own.has(field)).map((field) => `without ${field}`);
  const known = [...required, ...optional];
  const rest = Object.fromEntries(Object.entries(value).filter(([field]) => !known.includes(field)));
  if (name !== null) return [...missing, ...differencesFromSchema(name, rest)];
  return [...missing, ...(isOpen ? [] : Object.keys(rest).map((field) => `${field} is not documented`))];
}

const schemas: Readonly<Record<string, unknown>> = { ...core, ...internal };

function differencesFromSchema(name: string, value: object): string[] {
  const schema = schemas[name];
  if (!(schema instanceof z.ZodType)) return [`there is no schema ${name}`];
  const parsed = schema.safeParse(value);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${name}.${path.join(".")}: ${message}`);
  return fieldsMissingIn(parsed.data, value, name);
}

/** A schema leaves out the fields that it does not have. */
function fieldsMissingIn(parsed: unknown, value: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (typeof parsed !== "object" || parsed === null) return [`${path} is not documented`];
  return Object.entries(value).flatMap(([field, inner]) =>
    Object.hasOwn(parsed, field)
      ? fieldsMissingIn((parsed as Record<string, unknown>)[field], inner, `${path}.${field}`)
      : [`${path}.${field} is not documented`],
  );
}
