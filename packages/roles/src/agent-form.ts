import { type Json, Limits, TroupeError } from "@troupe/core";
import { AgentForm } from "@troupe/core/internal";
import { type AgentFileChanges, editAgentFile, readKeyValue, replacePrompt } from "./edit-agent-file.ts";
import { splitFile } from "./front-matter.ts";
import { createProblemReport } from "./problem-report.ts";
import { splitToolNames } from "./tool-list.ts";
import { type Fields, isMapping, readYaml } from "./yaml-fields.ts";

/**
 * Reads the keys that the editor has fields for, as the file writes them. Throws `INVALID_AGENT` for a file whose front
 * matter cannot be read, or whose value does not fit its field.
 *
 * @example
 * readAgentForm("---\ndescription: d\ntools: Read, Bash\n---\nDo it.").tools; // ["Read", "Bash"]
 */
export function readAgentForm(text: string): AgentForm {
  const { fields, body } = partsOf(text);
  const subagents = mappingOf(fields, "subagents");
  const troupe = mappingOf(fields, "troupe");
  const form: AgentForm = {
    description: textOf(fields.get("description")?.value, "description"),
    model: textOf(fields.get("model")?.value, "model"),
    tools: toolsOf(fields, "tools"),
    disallowedTools: toolsOf(fields, "disallowedTools") ?? [],
    allow: namesOf(subagents.allow, "subagents.allow"),
    deny: namesOf(subagents.deny, "subagents.deny"),
    execution: textOf(subagents.execution, "subagents.execution") as AgentForm["execution"],
    maxConcurrent: textOf(subagents.max_concurrent, "subagents.max_concurrent"),
    limits: limitsOf(fields, troupe),
    writes: troupe.writes === undefined ? null : namesOf(troupe.writes, "troupe.writes"),
    disabled: troupe.disabled === true,
    prompt: body.replaceAll("\r\n", "\n").trim(),
  };
  const parsed = AgentForm.safeParse(form);
  if (parsed.success) return parsed.data;
  throw noForm(parsed.error.issues[0]?.path.join(".") ?? "a key");
}

/**
 * Gives a file the values of a form. Only keys whose value differs are written; comments, the order of the keys and unknown
 * keys stay.
 */
export function applyAgentForm(text: string, form: AgentForm): string {
  const before = readAgentForm(text);
  const edited = editAgentFile(text, changesOf(before, form, text));
  return form.prompt.trim() === before.prompt ? edited : replacePrompt(edited, form.prompt);
}

function changesOf(before: AgentForm, form: AgentForm, text: string): AgentFileChanges {
  const changes: Record<string, Json | undefined> = {};
  const change = (key: string, old: unknown, value: unknown, written: Json | undefined): void => {
    if (JSON.stringify(old) !== JSON.stringify(value)) changes[key] = written;
  };
  change("description", before.description, form.description, form.description);
  change("model", before.model, form.model, form.model || undefined);
  change("tools", before.tools, form.tools, form.tools ?? undefined);
  for (const key of ["allow", "deny"] as const) {
    change(`subagents.${key}`, before[key], form[key], form[key].length > 0 ? form[key] : undefined);
  }
  const denied = form.disallowedTools;
  change("disallowedTools", before.disallowedTools, denied, denied.length > 0 ? denied : undefined);
  change("subagents.execution", before.execution, form.execution, form.execution || undefined);
  const { maxConcurrent } = form;
  change("subagents.max_concurrent", before.maxConcurrent, maxConcurrent, limitOf(maxConcurrent));
  for (const key of Object.keys(Limits.shape) as (keyof Limits)[]) {
    change(keyOfLimit(key, text), before.limits[key] ?? "", form.limits[key] ?? "", limitOf(form.limits[key] ?? ""));
  }
  change("troupe.writes", before.writes, form.writes, form.writes ?? undefined);
  change("troupe.disabled", before.disabled, form.disabled, form.disabled || undefined);
  return changes;
}

/** A number stays a number. An empty field removes its key. */
function limitOf(written: string): Json | undefined {
  return written === "" ? undefined : readKeyValue("limit", written);
}

/** `maxTurns` is another name of `maxIterations`. A file that has it keeps it. */
function keyOfLimit(key: keyof Limits, text: string): string {
  const isShort = key === "maxIterations" && isMaxTurns(partsOf(text).fields);
  return isShort ? "maxTurns" : `troupe.limits.${key}`;
}

function isMaxTurns(fields: Fields): boolean {
  const { limits } = mappingOf(fields, "troupe");
  return fields.has("maxTurns") && !(isMapping(limits) && limits.maxIterations !== undefined);
}

function limitsOf(fields: Fields, troupe: Record<string, unknown>): AgentForm["limits"] {
  const { limits = {} } = troupe;
  if (!isMapping(limits)) throw noForm("troupe.limits");
  const found = Object.keys(Limits.shape).flatMap((key) => {
    const short = key === "maxIterations" && isMaxTurns(fields);
    const value = short ? fields.get("maxTurns")?.value : limits[key];
    return value === undefined ? [] : [[key, value === null ? "null" : textOf(value, `troupe.limits.${key}`)]];
  });
  return Object.fromEntries(found);
}

function partsOf(text: string): { fields: Fields; body: string } {
  const report = createProblemReport("", text);
  const parts = splitFile(text.replace(/^\uFEFF/, ""), report);
  if (!parts) throw invalid(report.problems[0]?.message ?? "the file has no front matter");
  const yaml = readYaml(parts.yaml, parts.yamlOffset);
  if ("failure" in yaml) throw invalid(`the front matter is not valid YAML: ${yaml.failure.message}`);
  if (!yaml.fields) throw invalid("the front matter has no keys and values");
  if (yaml.aliasOffset !== null) throw invalid("the front matter has an alias");
  if (yaml.duplicates.length > 0) throw invalid(`the key ${yaml.duplicates[0]?.key} appears twice`);
  return { fields: yaml.fields, body: parts.body };
}

function mappingOf(fields: Fields, key: string): Record<string, unknown> {
  const value = fields.get(key)?.value ?? {};
  if (isMapping(value)) return value;
  throw noForm(key);
}

function textOf(value: unknown, key: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value.trim();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw noForm(key);
}

function namesOf(value: unknown, key: string): string[] {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : [value];
  return list.map((each) => {
    if (typeof each !== "string" || each.trim() === "") throw noForm(key);
    return each.trim();
  });
}

function toolsOf(fields: Fields, key: string): string[] | null {
  const field = fields.get(key);
  if (!field) return null;
  return typeof field.value === "string" ? splitToolNames(field.value) : namesOf(field.value, key);
}

function noForm(key: string): TroupeError {
  return invalid(`the value of ${key} has another form than its field`);
}

function invalid(message: string): TroupeError {
  return new TroupeError("INVALID_AGENT", `the file has no fields to edit: ${message}`, {
    fix: "edit the text of the file",
  });
}
