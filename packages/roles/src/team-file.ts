import { basename, dirname } from "node:path";
import { PartialBudget } from "@troupe/core";
import {
  type AgentProblem,
  type ChildVerifier,
  didYouMean,
  ObserverSpec,
  PartialLimits,
  TeamName,
  type Trigger,
  VerifierSpec,
} from "@troupe/core/internal";
import { z } from "zod";
import { lintChecks } from "./check-lint.ts";
import type { AgentOrigin } from "./parse-agent.ts";
import { createProblemReport, formatValue, type ProblemReport, type SourceLocation } from "./problem-report.ts";
import { reportSchemaIssue } from "./schema-issue.ts";
import { type Field, type Fields, readYaml } from "./yaml-fields.ts";

/** An agent of the team, an agent without a team, or `team/agent`. */
const AgentName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,80}(\/[A-Za-z0-9_-]{1,80})?$/, "an agent such as coder or coding/coder");

const teamShape = {
  name: TeamName.exactOptional(),
  description: z.string().trim().min(1),
  entry: AgentName.exactOptional(),
  agents: z.array(AgentName).max(100).default([]),
  defaults: z
    .strictObject({
      model: z.string().min(1).exactOptional(),
      maxDepth: z.int().min(0).max(10).exactOptional(),
      limits: z.strictObject(PartialLimits.shape).default({}),
      budget: z.strictObject(PartialBudget.shape).default({}),
    })
    .prefault({}),
  triggers: z
    .array(
      z.strictObject({
        words: z.array(z.string().min(1)).min(1),
        agent: AgentName,
        after: z.array(z.string()).default([]),
      } satisfies Record<keyof Trigger, unknown>),
    )
    .default([]),
  verifiers: z.array(z.strictObject({ ...VerifierSpec.shape, agent: AgentName })).default([]),
  childVerifiers: z
    .array(
      z.strictObject({
        ...VerifierSpec.shape,
        agent: AgentName.nullable().default(null),
        words: z.array(z.string().min(1)).default([]),
      } satisfies Record<keyof ChildVerifier, unknown>),
    )
    .default([]),
  observers: z.array(z.strictObject(ObserverSpec.shape)).default([]),
};
const TeamShape = z.strictObject(teamShape);

/** A `team.yaml`, with names as written. */
export type TeamFile = Omit<z.infer<typeof TeamShape>, "name"> & { name: string };

export interface ParsedTeam {
  path: string;
  origin: AgentOrigin;
  /** Name of the team, also if its file has errors: it then replaces no other team, and says why. */
  name: string;
  /** Null after an error. */
  file: TeamFile | null;
  /** SHA-256 of the file's bytes. Absent: the file could not be read. */
  contentHash?: string;
  problems: AgentProblem[];
  /** Position of a key, or of an item of its list. */
  locationOf(...path: [key: string, ...rest: (string | number)[]]): SourceLocation;
}

/** The largest `team.yaml`. */
export const teamBytesMax = 32 * 1024;

/**
 * Parses a `team.yaml`. Never throws: an invalid file has problems with their positions, and no team.
 *
 * @example
 * const text = "description: Writes reports\nentry: main\n";
 * parseTeam({ path: "report/team.yaml", origin: "project", text }).file?.name; // "report"
 */
export function parseTeam({
  path,
  origin,
  text: given,
}: {
  path: string;
  origin: AgentOrigin;
  text: string;
}): ParsedTeam {
  const text = given.replace(/^\uFEFF/, "");
  const report = createProblemReport(path, text);
  const fields = readFields(text, report);
  const folder = basename(dirname(path)).toLowerCase();
  const locationOf: ParsedTeam["locationOf"] = (key, ...rest) => {
    const field = fields?.get(key);
    return report.locationAt(field ? (rest.length > 0 ? field.offsetOf(rest) : field.keyOffset) : 0);
  };
  const file = fields && readTeam(fields, folder, report);
  const name = file?.name ?? folder;
  return { path, origin, name, file: report.failed ? null : file, problems: report.problems, locationOf };
}

function readFields(text: string, report: ProblemReport): Fields | null {
  if (text.length > teamBytesMax) {
    const message = `the file has ${text.length} characters; the maximum is ${teamBytesMax}`;
    report.error(0, { code: "file-too-large", message, fix: "move long texts into the agent files" });
    return null;
  }
  const read = readYaml(text, 0);
  if ("failure" in read) {
    const message = `the YAML cannot be read: ${read.failure.message}`;
    report.error(read.failure.offset, { code: "invalid-yaml", message, fix: "put values with a colon in quotes" });
    return null;
  }
  for (const { key, offset } of read.duplicates) {
    report.error(offset, { code: "duplicate-key", message: `${key} appears twice`, fix: "keep one of the two" });
  }
  if (read.aliasOffset !== null) {
    report.error(read.aliasOffset, {
      code: "yaml-alias",
      message: "aliases are not supported",
      fix: "write the value out",
    });
  }
  if (read.fields === null) {
    const message = "the file is not a list of keys and values";
    report.error(read.startOffset, { code: "invalid-team", message, fix: "start it with description: and a sentence" });
  }
  return report.failed ? null : read.fields;
}

function readTeam(fields: Fields, folder: string, report: ProblemReport): TeamFile | null {
  const values = Object.fromEntries([...fields.values()].flatMap((field) => readValue(field, report)));
  if (!fields.has("description")) {
    const message = "the team has no description, which says when to choose it";
    report.error(0, { code: "missing-description", message, fix: "add description: and a sentence" });
  }
  if (!fields.has("name") && !TeamName.safeParse(folder).success) {
    const message = `the name of the folder, ${formatValue(folder)}, is not a name for a team`;
    report.error(0, { code: "invalid-name", message, fix: "add name: with small letters, digits and -" });
  }
  if (report.failed) return null;
  const parsed = TeamShape.parse(values);
  for (const key of ["verifiers", "childVerifiers", "observers"] as const) {
    const field = fields.get(key);
    const kind = key === "observers" ? "observer" : "verifier";
    if (field) lintChecks(kind, parsed[key], { field, key, at: [], report });
  }
  if (report.failed) return null;
  return { ...parsed, name: parsed.name ?? folder };
}

/** The value of a valid key. */
function readValue(field: Field, report: ProblemReport): [key: string, value: unknown][] {
  const schema = Object.hasOwn(teamShape, field.key) ? teamShape[field.key as keyof typeof teamShape] : undefined;
  if (!schema) reportUnknownKey(field, report);
  else if (field.value === null) reportEmpty(field, report);
  else {
    const parsed = z.safeParse(schema as z.ZodType, field.value);
    if (parsed.success) return [[field.key, field.value]];
    for (const issue of parsed.error.issues) reportSchemaIssue(issue, field, report);
  }
  return [];
}

function reportUnknownKey({ key, keyOffset }: Field, report: ProblemReport): void {
  report.error(keyOffset, {
    code: "unknown-key",
    message: `${formatValue(key)} is not a key of team.yaml`,
    fix: didYouMean(key, Object.keys(teamShape)) ?? `remove it; the keys are ${Object.keys(teamShape).join(", ")}`,
  });
}

/** If it counted as absent, a check or a limit would be off without a word. */
function reportEmpty({ key, keyOffset }: Field, report: ProblemReport): void {
  report.error(keyOffset, {
    code: "wrong-type",
    message: `${key}: has no value`,
    fix: `write ${key}: and the value, or remove the line`,
  });
}
