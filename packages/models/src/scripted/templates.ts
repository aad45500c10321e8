import { z } from "zod";

type Json = z.infer<ReturnType<typeof z.json>>;

/** Values of the templates. */
export interface TemplateValues {
  task: string;
  attempt: number;
  /** Texts of the tool results of the last turn, in the order of its calls. */
  results: readonly string[];
}

const template = /\{\{\s*(.*?)\s*\}\}/gs;
const resultReference = /^result\.(\d+)\.(summary|output)$/;

/** The reason why a template in a text, or in the strings of a JSON value, is invalid; null when all are valid. */
export function templateProblem(json: Json): string | null {
  if (typeof json === "string") return textProblem(json);
  if (json === null || typeof json !== "object") return null;
  for (const inner of Object.values(json)) {
    const problem = templateProblem(inner);
    if (problem) return problem;
  }
  return null;
}

function textProblem(text: string): string | null {
  for (const [whole, name = ""] of text.matchAll(template)) {
    if (name === "task" || name === "attempt" || resultReference.test(name)) continue;
    return `${whole} is not a template; use {{task}}, {{attempt}}, {{result.N.summary}} or {{result.N.output}}`;
  }
  return null;
}

/** Fills in the templates of a text, once: templates in the inserted values are not filled in. */
export function fillText(text: string, values: TemplateValues): string {
  return text.replace(template, (whole, name: string) => replacementOf(name, values) ?? whole);
}

/** Fills in the templates of every string in a JSON value. Keys stay as they are. */
export function fillJson(json: Json, values: TemplateValues): Json {
  if (typeof json === "string") return fillText(json, values);
  if (Array.isArray(json)) return json.map((inner) => fillJson(inner, values));
  if (json === null || typeof json !== "object") return json;
  return Object.fromEntries(Object.entries(json).map(([key, inner]) => [key, fillJson(inner, values)]));
}

function replacementOf(name: string, { task, attempt, results }: TemplateValues): string | null {
  if (name === "task") return task;
  if (name === "attempt") return String(attempt);
  const [, index, field] = resultReference.exec(name) ?? [];
  if (index === undefined) return null;
  const result = results[Number(index)];
  if (result === undefined) return `[no result ${index}]`;
  return fieldOf(result, field === "summary" ? "summary" : "output");
}

/**
 * The field of a result that is a JSON object. Of any other result the summary is the first line, and the output is the
 * whole text.
 */
function fieldOf(result: string, field: "summary" | "output"): string {
  const parsed = ResultObject.safeParse(jsonOrNull(result));
  const own = parsed.success ? parsed.data[field] : undefined;
  if (own !== undefined) return own;
  return field === "output" ? result : (result.split("\n", 1)[0] ?? "");
}

const ResultObject = z.object({ summary: z.string().optional(), output: z.string().optional() });

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
