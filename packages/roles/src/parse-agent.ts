import { basename } from "node:path";
import type { AgentDefinition } from "@troupe/core";
import { type AgentProblem, type PartialLimits, Subagents, Token } from "@troupe/core/internal";
import { fixForTopKey, topKeys } from "./agent-keys.ts";
import { readSubagents, readTroupe } from "./agent-settings.ts";
import { reportContradictions } from "./contradictions.ts";
import { readEffort } from "./effort.ts";
import { splitFile } from "./front-matter.ts";
import { readFields } from "./read-fields.ts";
import { createReport, type Report, type SourceLocation, show } from "./report.ts";
import { readToolList, type Target, type ToolList } from "./tool-list.ts";
import type { Fields } from "./yaml-fields.ts";

export type AgentOrigin = AgentDefinition["source"]["origin"];

export interface AgentFile {
  /** Shown in problems, and kept as the definition's source. */
  path: string;
  origin: AgentOrigin;
  text: string;
}

export interface ParsedAgent {
  path: string;
  origin: AgentOrigin;
  /** Null when the file has an error. */
  definition: AgentDefinition | null;
  /** The id that the file gives, or would give if it were sound: by its front matter, else by its name. */
  claimedId: string;
  /** Where each agent that it may delegate to is named. */
  targetPlaces: ReadonlyMap<string, SourceLocation>;
  /** Where the agent is named that is asked when this one has failed. */
  alternativePlace: SourceLocation | null;
  problems: readonly AgentProblem[];
}

/**
 * Reads one agent file: Markdown with YAML front matter, as Claude Code has it, and troupe's own keys. Never throws:
 * what is wrong is in `problems`, with line and column.
 *
 * @example
 * const { definition, problems } = parseAgent({
 *   path: "notes.md",
 *   origin: "project",
 *   text: "---\nname: notes\ndescription: Takes notes\ntools: read, write\n---\nTake notes.\n",
 * });
 */
export function parseAgent(file: AgentFile): ParsedAgent {
  const text = file.text.replace(/^\uFEFF/, "");
  const report = createReport(file.path, text);
  const parts = splitFile(text, report);
  const fields = parts && readFields(parts, report);
  const stem = slugOf(basename(file.path).replace(/\.[^.]*$/, ""));
  if (!parts || !fields) return refused(file, stem, report.problems);

  warnOfKeys(fields, report);
  const identity = readIdentity(fields, report);
  const description = readText("description", fields, report);
  if (description === null && !fields.has("description")) reportMissing("description", parts.yamlOffset, report);
  const model = readModel(fields, file.origin, report);
  const settings = readSettings(fields, text, report);
  const prompt = parts.body.replaceAll("\r\n", "\n").trim();
  if (prompt === "") {
    report.error(parts.bodyOffset, {
      code: "empty-prompt",
      message: "nothing stands below the front matter, so the agent has no prompt",
      fix: "write below the closing --- what the agent is to do",
    });
  }
  if (identity === null && !fields.has("name") && !fields.has("id")) reportMissing("name", parts.yamlOffset, report);
  const claimedId = identity?.id ?? slugOf(String(fields.get("id")?.value ?? fields.get("name")?.value ?? "")) ?? stem;
  if (report.failed || !identity || description === null || !settings) {
    return refused(file, claimedId || stem, report.problems);
  }
  const { targets, ...rest } = settings;
  const source = { origin: file.origin, path: file.path };
  const definition = { ...identity, description, prompt, model, ...rest, source };
  reportContradictions(definition, targets, fields, report);
  if (report.failed) return refused(file, identity.id, report.problems);
  const alternativeOffset = fields.get("troupe")?.offsetOf(["retry", "alternative"]) ?? 0;
  return {
    path: file.path,
    origin: file.origin,
    definition,
    claimedId: identity.id,
    targetPlaces: new Map(targets.map(({ id, offset }) => [id, report.placeAt(offset)])),
    alternativePlace: definition.retry.alternative === null ? null : report.placeAt(alternativeOffset),
    problems: report.problems,
  };
}

/** A file of which nothing can be used. */
export function refused(
  file: Pick<AgentFile, "path" | "origin">,
  claimedId: string,
  problems: readonly AgentProblem[],
): ParsedAgent {
  const { path, origin } = file;
  return { path, origin, definition: null, claimedId, targetPlaces: new Map(), alternativePlace: null, problems };
}

/** An id made of words: `Research Coordinator` gives `research-coordinator`. Empty when no letter is left. */
export function slugOf(words: string): string {
  return words
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .slice(0, 128)
    .replace(/^-+|-+$/g, "");
}

function warnOfKeys(fields: Fields, report: Report): void {
  for (const field of fields.values()) {
    if (!topKeys.has(field.key)) {
      report.warn(field.keyOffset, {
        code: "unknown-key",
        message: `${show(field.key)} is not a key of agent files; it has no effect`,
        fix: fixForTopKey(field.key),
      });
    }
    if (field.key === "permissionMode" && field.value === "bypassPermissions") {
      report.warn(field.valueOffset, {
        code: "ignored-permission-mode",
        message: "permissionMode: bypassPermissions has no effect here; approvals are asked for all the same",
        fix: "remove the line",
      });
    }
    if (field.comment !== null && (field.key === "description" || field.key === "name")) {
      report.warn(field.valueOffset, {
        code: "cut-by-comment",
        message: `${field.key} ends at " #"; what follows (${show(field.comment.trim())}) is a comment in YAML`,
        fix: "put the value in double quotes",
      });
    }
  }
}

function readIdentity(fields: Fields, report: Report): { id: string; name: string } | null {
  const name = readText("name", fields, report);
  const id = readText("id", fields, report);
  if (id !== null) {
    if (Token.safeParse(id).success) return { id, name: name ?? id };
    const slug = slugOf(id);
    report.error(fields.get("id")?.valueOffset ?? 0, {
      code: "invalid-id",
      message: `id is ${show(id)}; letters, digits, - and _ are allowed, at most 128 of them`,
      fix: slug ? `write id: ${slug}` : "write an id such as id: my-agent",
    });
    return null;
  }
  if (name === null) return null;
  if (Token.safeParse(name).success) return { id: name, name };
  const slug = slugOf(name);
  const offset = fields.get("name")?.valueOffset ?? 0;
  if (slug === "") {
    report.error(offset, {
      code: "invalid-id",
      message: `name is ${show(name)}, of which no id can be made`,
      fix: "add a line such as id: my-agent",
    });
    return null;
  }
  report.warn(offset, {
    code: "id-from-name",
    message: `name ${show(name)} cannot be an id, so the agent's id is ${slug}`,
    fix: `add a line id: ${slug}`,
  });
  return { id: slug, name };
}

/** Text, or null where it is not given or wrong. Given but empty is wrong, except for keys that have a default. */
function readText(key: "id" | "name" | "description" | "model", fields: Fields, report: Report): string | null {
  const field = fields.get(key);
  if (!field) return null;
  const { value } = field;
  if (typeof value === "string" && value.trim() !== "") return value.trim();
  if (value === null || value === "" || typeof value === "string") {
    if (key === "name" || key === "description") reportMissing(key, field.keyOffset, report);
    return null;
  }
  report.error(field.valueOffset, {
    code: "wrong-type",
    message: `${key} is ${show(value)}; text is wanted`,
    fix: typeof value === "object" ? `write ${key}: and the text on one line` : `write ${key}: "${String(value)}"`,
  });
  return null;
}

/** A script that plays tool calls is a program: a folder's file must not have it run. */
function readModel(fields: Fields, origin: AgentOrigin, report: Report): string {
  const model = readText("model", fields, report) ?? "inherit";
  const isOfFolder = origin === "project" || origin === "claude";
  if (!isOfFolder || !/^(scripted|replay)\//.test(model)) return model;
  report.warn(fields.get("model")?.valueOffset ?? 0, {
    code: "script-as-model",
    message: `model is ${show(model)}: a folder's agent cannot have a script answer, so that it inherits its model`,
    fix: "write model: inherit",
  });
  return "inherit";
}

function reportMissing(key: "name" | "description", offset: number, report: Report): void {
  const why = key === "name" ? "others could not delegate to it" : "others would not know when to delegate to it";
  report.error(offset, {
    code: `missing-${key}`,
    message: `the agent has no ${key}: ${why}`,
    fix: key === "name" ? "add a line such as name: my-agent" : "add a line such as description: Use it to …",
  });
}

type Settings = Omit<AgentDefinition, "id" | "name" | "description" | "prompt" | "model" | "source"> & {
  targets: Target[];
};

function readSettings(fields: Fields, text: string, report: Report): Settings | null {
  const granted = readTools("tools", fields, text, report);
  const denied = readTools("disallowedTools", fields, text, report);
  const subagents = readSubagents(fields.get("subagents"), report);
  const troupe = readTroupe(fields.get("troupe"), report);
  const maxTurns = readMaxTurns(fields, report);
  const effort = readEffort(fields.get("effort"), report);
  if (!subagents || !troupe || report.failed) return null;

  const listed = subagents.allow.map((id, i) => ({ id, offset: fields.get("subagents")?.offsetOf(["allow", i]) ?? 0 }));
  const targets = denied?.delegation == null ? [...listed, ...(granted?.targets ?? [])] : [];
  if (granted && granted.delegation !== null && targets.length === 0) {
    report.warn(granted.delegation, {
      code: "delegation-without-targets",
      message: "tools grants delegation but does not say to whom, so the agent delegates to nobody",
      fix: "name the agents: subagents: {allow: [reviewer]}, or Agent(reviewer) among the tools",
    });
  }
  return {
    tools: denied?.all ? [] : granted === null || granted.all ? null : granted.tools,
    disallowedTools: denied?.tools ?? [],
    subagents: Subagents.parse({
      ...subagents,
      allow: [...new Set(targets.map(({ id }) => id))],
      deny: [...new Set([...subagents.deny, ...(denied?.targets ?? []).map(({ id }) => id)])],
    }),
    effort,
    ...troupe,
    limits: { ...maxTurns, ...concurrencyOf(fields, subagents), ...troupe.limits },
    targets: targets.filter(({ id }, i) => targets.findIndex((target) => target.id === id) === i),
  };
}

function readTools(key: "tools" | "disallowedTools", fields: Fields, text: string, report: Report): ToolList | null {
  const field = fields.get(key);
  if (!field) return null;
  if (key === "tools" && field.value === null) {
    report.warn(field.keyOffset, {
      code: "empty-tools",
      message: "tools: has nothing behind it, so the agent gets no tool at all",
      fix: "write tools: [] if that is meant; remove the line to let it have what its parent grants",
    });
  }
  return readToolList(field, key === "tools" ? "grants" : "denies", text, report);
}

function readMaxTurns(fields: Fields, report: Report): PartialLimits {
  const field = fields.get("maxTurns");
  if (!field || field.value === null) return {};
  const { value } = field;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return { maxIterations: value };
  report.error(field.valueOffset, {
    code: typeof value === "number" ? "invalid-value" : "wrong-type",
    message: `maxTurns is ${show(value)}; wanted is a whole number above 0`,
    fix: "write maxTurns: 20, or remove the line",
  });
  return {};
}

/** `max_concurrent` counts as the run's cap only where the file says it, so that a default never tightens. */
function concurrencyOf(fields: Fields, subagents: Subagents): PartialLimits {
  const value = fields.get("subagents")?.value;
  const given = typeof value === "object" && value !== null && "max_concurrent" in value;
  return given ? { maxConcurrent: subagents.max_concurrent } : {};
}
