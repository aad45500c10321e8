import { z } from "zod";

type Json = z.infer<ReturnType<typeof z.json>>;

/** What templates can stand for. */
export interface TemplateValues {
  task: string;
  attempt: number;
  /** Texts of the tool results of the last turn, in the order of its calls. */
  results: readonly string[];
}

const template = /\{\{\s*(.*?)\s*\}\}/gs;
const resultReference = /^result\.(\d+)\.(summary|output)$/;

/** Why the templates of a text, or of the strings in some arguments, cannot be filled in; null if they can. */
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
    return `${whole} is no template; there are {{task}}, {{attempt}}, {{result.N.summary}} and {{result.N.output}}`;
  }
  return null;
}

/** Fills in the templates of a text, once: what comes in is not looked at again. */
export function fillText(text: string, values: TemplateValues): string {
  return text.replace(template, (whole, name: string) => replacementOf(name, values) ?? whole);
}

/** The same for every string in some arguments. Keys stay as they are. */
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

/** Of a result that is a JSON object its own field; else the first line stands for the summary, all for the output. */
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
