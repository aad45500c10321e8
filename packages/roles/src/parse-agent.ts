import { basename } from "node:path";
import type { AgentDefinition } from "@troupe/core";
import { type AgentProblem, type PartialLimits, Subagents, Token } from "@troupe/core/internal";
import { fixForTopKey, metadataKeys, topKeys } from "./agent-keys.ts";
import { readEffort, readSubagents, readTroupe, reportConflicts } from "./agent-settings.ts";
import { splitFile } from "./front-matter.ts";
import { readImported } from "./imported-keys.ts";
import { createProblemReport, formatValue, type ProblemReport, type SourceLocation } from "./problem-report.ts";
import { readFields } from "./read-fields.ts";
import { type ListedTool, readToolList, type Target, type ToolList } from "./tool-list.ts";
import { restrictWriters } from "./write-restrictions.ts";
import { type Fields, tooDeep } from "./yaml-fields.ts";

export type AgentOrigin = AgentDefinition["source"]["origin"];

export interface AgentFile {
  /** Path for problems and for the definition's source. */
  path: string;
  origin: AgentOrigin;
  text: string;
}

export interface ParsedAgent {
  path: string;
  origin: AgentOrigin;
  /** Null if the file has an error. */
  definition: AgentDefinition | null;
  /** The id from the front matter, or from the file name. A file with an error has one too. */
  claimedId: string;
  /** The location of each subagent in the file. */
  targetLocations: ReadonlyMap<string, SourceLocation>;
  /** The location of each item of `tools` and `disallowedTools` in the file. */
  toolLocations: readonly ToolLocation[];
  /** The location of `retry.alternative` in the file. */
  alternativeLocation: SourceLocation | null;
  problems: readonly AgentProblem[];
  /** SHA-256 of the file's bytes, for consent to exactly these. Absent: the agent does not come from a folder. */
  contentHash?: string;
  /** The file has no front matter: among agent files it is a note, and no agent. */
  isNote?: true;
}

/** An item of `tools` or `disallowedTools`, as the definition and as the file has it. */
export interface ToolLocation extends SourceLocation {
  list: "tools" | "disallowedTools";
  item: string;
  written: string;
}

/**
 * Parses one agent file: Markdown with YAML front matter in Claude Code's format, plus troupe's own keys. Never throws:
 * `problems` has every error and warning with its line and column.
 *
 * @example
 * const { definition, problems } = parseAgent({
 *   path: "notes.md",
 *   origin: "project",
 *   text: "---\nname: notes\ndescription: Takes notes\ntools: read, write\n---\nTake notes.\n",
 * });
 */
export function parseAgent(file: AgentFile): ParsedAgent {
  try {
    return parseWithinStack(file);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { offset, message } = tooDeep(file.text);
    const report = createProblemReport(file.path, file.text);
    report.error(offset, { code: "nested-too-deeply", message, fix: "nest values at most 100 levels deep" });
    return refusedAgent(file, stemOf(file.path), report.problems);
  }
}

/** Throws a `RangeError` for values that are nested too deeply for the call stack. */
function parseWithinStack(file: AgentFile): ParsedAgent {
  const text = file.text.replace(/^\uFEFF/, "");
  const report = createProblemReport(file.path, text);
  const parts = splitFile(text, report);
  const fields = parts && readFields(parts, report);
  const stem = stemOf(file.path);
  if (!parts && !/^(name|description)[ \t]*:/m.test(text)) {
    return { ...refusedAgent(file, stem, report.problems), isNote: true };
  }
  if (!parts || !fields) return refusedAgent(file, stem, report.problems);

  lintKeys(fields, report);
  const identity = readIdentity(fields, stem, report);
  const description = readText("description", fields, report);
  if (description === null && !fields.has("description")) reportMissing("description", parts.yamlOffset, report);
  const model = readModel(fields, file.origin, report);
  const settings = readSettings(fields, text, report);
  const prompt = parts.body.replaceAll("\r\n", "\n").trim();
  if (prompt === "") {
    report.error(parts.bodyOffset, {
      code: "empty-prompt",
      message: "the file has no text below the front matter, so the agent has no prompt",
      fix: "write the prompt below the closing ---",
    });
  }
  if (identity === null && !fields.has("name") && !fields.has("id")) reportMissing("name", parts.yamlOffset, report);
  const claimedId = identity?.id ?? slugOf(String(fields.get("id")?.value ?? fields.get("name")?.value ?? "")) ?? stem;
  if (report.failed || !identity || description === null || !settings) {
    return refusedAgent(file, claimedId || stem, report.problems);
  }
  const { targets, listed, ...rest } = settings;
  const source = { origin: file.origin, path: file.path };
  const definition = { ...identity, description, prompt, model, ...rest, source };
  reportConflicts(definition, targets, fields, report);
  if (report.failed) return refusedAgent(file, identity.id, report.problems);
  const alternativeOffset = fields.get("troupe")?.offsetOf(["retry", "alternative"]) ?? 0;
  return {
    path: file.path,
    origin: file.origin,
    definition,
    claimedId: identity.id,
    targetLocations: new Map(targets.map(({ id, offset }) => [id, report.locationAt(offset)])),
    toolLocations: listed.map(({ offset, ...tool }) => ({ ...tool, ...report.locationAt(offset) })),
    alternativeLocation: definition.retry.alternative === null ? null : report.locationAt(alternativeOffset),
    problems: report.problems,
  };
}

/** The result for a file that cannot be used. */
export function refusedAgent(
  file: Pick<AgentFile, "path" | "origin">,
  claimedId: string,
  problems: readonly AgentProblem[],
): ParsedAgent {
  const { path, origin } = file;
  const withoutLocations = { targetLocations: new Map(), toolLocations: [], alternativeLocation: null };
  return { path, origin, definition: null, claimedId, ...withoutLocations, problems };
}

/** The id that the name of a file gives: `reviewer.md`, `reviewer.agent.md` and `reviewer.chatmode.md` give `reviewer`. */
export function stemOf(path: string): string {
  return slugOf(basename(path).replace(/(\.(agent|chatmode))?\.[^.]*$/i, ""));
}

/** Makes an id of a name: `Research Coordinator` gives `research-coordinator`. Empty if no letter or digit is left. */
export function slugOf(words: string): string {
  return words
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .slice(0, 128)
    .replace(/^-+|-+$/g, "");
}

function lintKeys(fields: Fields, report: ProblemReport): void {
  const metadata = [...fields.values()].filter(({ key }) => metadataKeys.has(key));
  const [first] = metadata;
  if (first) {
    const names = metadata.map(({ key }) => key).join(", ");
    report.warn(first.keyOffset, {
      code: "metadata-keys",
      message: `${names}: troupe does not use ${metadata.length === 1 ? "this key" : "these keys"}, so nothing changes`,
      fix: "nothing to do; remove the keys if no other program reads the file",
    });
  }
  for (const field of fields.values()) {
    if (!topKeys.has(field.key) && !metadataKeys.has(field.key)) {
      report.warn(field.keyOffset, {
        code: "unknown-key",
        message: `${formatValue(field.key)} is not a key of agent files; it has no effect`,
        fix: fixForTopKey(field.key),
      });
    }
    if (field.comment !== null && (field.key === "description" || field.key === "name")) {
      report.warn(field.valueOffset, {
        code: "cut-by-comment",
        message: `${field.key} ends at " #": the rest of the line (${formatValue(field.comment.trim())}) is a YAML comment`,
        fix: "put the value in double quotes",
      });
    }
  }
}

function readIdentity(fields: Fields, stem: string, report: ProblemReport): { id: string; name: string } | null {
  const name = readText("name", fields, report);
  const id = readText("id", fields, report);
  if (id !== null) {
    if (Token.safeParse(id).success) return { id, name: name ?? id };
    const slug = slugOf(id);
    report.error(fields.get("id")?.valueOffset ?? 0, {
      code: "invalid-id",
      message: `id is ${formatValue(id)}; expected at most 128 letters, digits, - and _`,
      fix: slug ? `write id: ${slug}` : "write an id such as id: my-agent",
    });
    return null;
  }
  if (name === null) return stem === "" || fields.has("name") ? null : { id: stem, name: stem };
  if (Token.safeParse(name).success) return { id: name, name };
  const slug = slugOf(name);
  const offset = fields.get("name")?.valueOffset ?? 0;
  if (slug === "") {
    report.error(offset, {
      code: "invalid-id",
      message: `name is ${formatValue(name)}, which has no letter or digit for an id`,
      fix: "add a line such as id: my-agent",
    });
    return null;
  }
  report.warn(offset, {
    code: "id-from-name",
    message: `name ${formatValue(name)} is not a valid id, so the agent's id is ${slug}`,
    fix: `add a line id: ${slug}`,
  });
  return { id: slug, name };
}

/** Reads a text. Returns null if it is absent or invalid. An empty name or description is an error. */
function readText(key: "id" | "name" | "description" | "model", fields: Fields, report: ProblemReport): string | null {
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
    message: `${key} is ${formatValue(value)}; expected text`,
    fix: typeof value === "object" ? `write ${key}: and the text on one line` : `write ${key}: "${String(value)}"`,
  });
  return null;
}

/** A script can make any tool call. An agent file of a project must not start one. */
function readModel(fields: Fields, origin: AgentOrigin, report: ProblemReport): string {
  const model = readText("model", fields, report) ?? "inherit";
  const isProjectFile = origin === "project" || origin === "claude";
  if (!isProjectFile || !/^(scripted|replay)\//.test(model)) return model;
  report.warn(fields.get("model")?.valueOffset ?? 0, {
    code: "script-as-model",
    message: `model is ${formatValue(model)}: an agent of a project cannot use a script as its model, so it inherits one`,
    fix: "write model: inherit",
  });
  return "inherit";
}

function reportMissing(key: "name" | "description", offset: number, report: ProblemReport): void {
  const effect =
    key === "name" ? "other agents cannot delegate to it" : "other agents do not know when to delegate to it";
  report.error(offset, {
    code: `missing-${key}`,
    message: `the agent of ${report.fileName} has no ${key}, so ${effect}`,
    fix: key === "name" ? "add a line such as name: my-agent" : "add a line such as description: Use it to …",
  });
}

type Settings = Omit<AgentDefinition, "id" | "name" | "description" | "prompt" | "model" | "source"> & {
  targets: Target[];
  listed: (ListedTool & Pick<ToolLocation, "list">)[];
};

function readSettings(fields: Fields, text: string, report: ProblemReport): Settings | null {
  const granted = readTools("tools", fields, text, report);
  const denied = readTools("disallowedTools", fields, text, report);
  const subagents = readSubagents(fields.get("subagents"), report);
  const troupe = readTroupe(fields.get("troupe"), report);
  const maxTurns = readMaxTurns(fields, report);
  const effort = readEffort(fields.get("effort"), report);
  const imported = readImported(fields, report);
  if (!subagents || !troupe || !imported || report.failed) return null;

  const named = subagents.allow.map((id, i) => ({ id, offset: fields.get("subagents")?.offsetOf(["allow", i]) ?? 0 }));
  const targets = denied?.delegationOffset == null ? [...named, ...(granted?.targets ?? [])] : [];
  if (granted && granted.delegationOffset !== null && targets.length === 0 && denied?.delegationOffset == null) {
    addAnyTarget(granted.delegationOffset, { fields, isExpert: troupe.domain !== null, targets }, report);
  }
  const writes = granted ? restrictWriters(granted, troupe.writes, report) : troupe.writes;
  if (granted) checkEntries(granted, fields, report);
  return {
    tools: denied?.all ? [] : granted === null || granted.all ? null : itemsOf(granted),
    disallowedTools: denied ? itemsOf(denied) : [],
    subagents: Subagents.parse({
      ...subagents,
      allow: [...new Set(targets.map(({ id }) => id))],
      deny: [...new Set([...subagents.deny, ...(denied?.targets ?? []).map(({ id }) => id)])],
    }),
    effort,
    ...imported.permissionMode,
    ...troupe,
    writes,
    workspace: troupe.workspace ?? imported.workspace,
    limits: { ...maxTurns, ...concurrencyOf(fields, subagents), ...troupe.limits },
    targets: targets.filter(({ id }, i) => targets.findIndex((target) => target.id === id) === i),
    listed: [
      ...(granted?.tools ?? []).map((tool) => ({ ...tool, list: "tools" as const })),
      ...(denied?.tools ?? []).map((tool) => ({ ...tool, list: "disallowedTools" as const })),
    ],
  };
}

/** Reports a list whose entries were all left out: the agent would run without tools, and report success. */
function checkEntries(granted: ToolList, fields: Fields, report: ProblemReport): void {
  if (!granted.hasEntries || granted.all || granted.tools.length > 0 || grantsDelegation(granted)) return;
  report.error(fields.get("tools")?.valueOffset ?? 0, {
    code: "no-usable-tools",
    message: "no entry of tools can be granted, so the agent could do nothing",
    fix: "name tools that exist here, write tools: [] for an agent without tools, or remove the line for all tools",
  });
}

function itemsOf({ tools }: ToolList): string[] {
  return [...new Set(tools.map(({ item }) => item))];
}

function grantsDelegation({ targets, delegationOffset }: ToolList): boolean {
  return targets.length > 0 || delegationOffset !== null;
}

/** `Task` without names means every agent, as in Claude Code, unless the file has a list of its own. */
function addAnyTarget(
  offset: number,
  { fields, isExpert, targets }: { fields: Fields; isExpert: boolean; targets: Target[] },
  report: ProblemReport,
): void {
  const own = fields.get("subagents")?.value;
  const hasList = typeof own === "object" && own !== null && "allow" in own;
  if (!isExpert && !hasList) {
    targets.push({ id: "*", offset });
    return;
  }
  const reason = isExpert ? "an agent with a domain never delegates" : "subagents allows no agent";
  report.warn(offset, {
    code: "delegation-without-targets",
    message: `tools grants delegation, but ${reason}, so the agent cannot delegate`,
    fix: isExpert
      ? "remove the entry"
      : "name the agents: write subagents: {allow: [reviewer]}, or remove the line allow:",
  });
}

function readTools(
  key: "tools" | "disallowedTools",
  fields: Fields,
  text: string,
  report: ProblemReport,
): ToolList | null {
  const field = fields.get(key);
  if (!field) return null;
  if (key === "tools" && field.value === null) {
    report.warn(field.keyOffset, {
      code: "empty-tools",
      message: "tools: has no value, so the agent gets no tools",
      fix: "write tools: [] for no tools, or remove the line for the tools that its parent grants",
    });
  }
  if (key === "disallowedTools" && field.value === null) {
    // If this counted as absent, a missing indentation would remove the denials.
    report.error(field.keyOffset, {
      code: "wrong-type",
      message: "disallowedTools: has no value",
      fix: "name the tools: disallowedTools: [write], or remove the line",
    });
    return null;
  }
  return readToolList(field, key === "tools" ? "grant" : "deny", text, report);
}

function readMaxTurns(fields: Fields, report: ProblemReport): PartialLimits {
  const field = fields.get("maxTurns");
  if (!field) return {};
  const { value } = field;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return { maxIterations: value };
  report.error(field.valueOffset, {
    code: typeof value === "number" ? "invalid-value" : "wrong-type",
    message: `maxTurns is ${formatValue(value)}; expected a whole number above 0`,
    fix: "write maxTurns: 20, or remove the line",
  });
  return {};
}

/** `max_concurrent` limits the run only if the file has it. Its default must not lower another limit. */
function concurrencyOf(fields: Fields, subagents: Subagents): PartialLimits {
  const value = fields.get("subagents")?.value;
  const given = typeof value === "object" && value !== null && "max_concurrent" in value;
  return given ? { maxConcurrent: subagents.max_concurrent } : {};
}
