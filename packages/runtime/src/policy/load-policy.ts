import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { GrantLayer, Token, type ToolSpec, TroupeError } from "@troupe/core";
import { type Document, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { lineOf } from "../files/yaml-lines.ts";
import { codeOf } from "../tools/workspace-path.ts";
import { defaultPolicy, type Policy, riskDecisions } from "./policy.ts";
import { didYouMean, toolNames, unknownToolNames } from "./tool-names.ts";

const Decision = z.enum(riskDecisions);
const ToolNames = z.array(z.string().trim().min(1));

/** `policy.yaml`: every key is optional, and none but these is known. */
const PolicyFile = z.strictObject({
  tools: z.strictObject({ allow: ToolNames.optional(), deny: ToolNames.default([]) }).prefault({}),
  agents: z
    .strictObject({ allow: z.array(z.literal("*").or(Token)).optional(), disabled: z.array(Token).default([]) })
    .prefault({}),
  risk: z
    .strictObject({
      low: Decision.default(defaultPolicy.risk.low),
      medium: Decision.default(defaultPolicy.risk.medium),
      high: Decision.default(defaultPolicy.risk.high),
    })
    .prefault({}),
  cacheReads: z.boolean().default(defaultPolicy.cacheReads),
});

/** The keys that may stand at a place of the file, for whoever misspelt one. */
const keysAt: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(PolicyFile.shape),
  tools: ["allow", "deny"],
  agents: ["allow", "disabled"],
  risk: ["low", "medium", "high"],
};

/** The policy in a file; the default one where there is no file. Throws `INVALID_POLICY`: no mistake is passed over. */
export async function loadPolicy(file: string): Promise<Policy> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return defaultPolicy;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TroupeError("INVALID_POLICY", `the policy ${file} cannot be read: ${why}`, {
      fix: `make ${file} a file that you can read, or remove it`,
      cause,
    });
  }
  return parsePolicy(text, file);
}

/**
 * @example
 * parsePolicy("tools: {deny: [shell]}\nrisk: {medium: ask}", "policy.yaml").risk.medium; // "ask"
 */
export function parsePolicy(text: string, file: string): Policy {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    throw invalid(
      file,
      faults.map(({ message, pos }) => ({ line: lines.linePos(pos[0]).line, message, fix: null })),
    );
  }
  // A file of nothing but comments says nothing.
  const parsed = PolicyFile.safeParse(valueIn(document, file) ?? {});
  if (!parsed.success) throw invalid(file, problemsIn(parsed.error, document, lines));
  const { tools, agents, risk, cacheReads } = parsed.data;
  const layer = GrantLayer.parse({
    from: "policy",
    kind: "policy",
    tools: tools.allow ?? null,
    denyTools: tools.deny,
    agents: agents.allow ?? null,
    denyAgents: agents.disabled,
  });
  return { layer, risk, cacheReads };
}

/**
 * Names in a policy that fit no tool of this machine, in words for its owner. No mistake for certain, since tools come
 * with servers and versions; but a misspelt denial denies nothing.
 */
export function policyWarnings({ layer }: Policy, specs: readonly ToolSpec[]): string[] {
  const { tools, groups } = toolNames(specs);
  const warn = (key: string, names: readonly string[]): string[] =>
    unknownToolNames(names, specs).map((name) => {
      const meant = didYouMean(name, [...tools, ...groups]);
      return `${key} of the policy names ${JSON.stringify(name)}, and no tool here is called that${meant ? `: ${meant}` : ""}`;
    });
  return [...warn("tools.allow", layer.tools ?? []), ...warn("tools.deny", layer.denyTools)];
}

interface Problem {
  line: number;
  message: string;
  fix: string | null;
}

/** Aliases that would grow into a bomb are refused here, by the library. */
function valueIn(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw invalid(file, [{ line: 1, message: error instanceof Error ? error.message : String(error), fix: null }]);
  }
}

function problemsIn(error: z.ZodError, document: Document, lines: LineCounter): Problem[] {
  const problems = error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => unknownKey([...issue.path, key], lineOf(document, [...issue.path, key], lines)));
    }
    const key = issue.path.join(".");
    const fix = fixFor(issue.path, document.getIn(issue.path));
    const message = key === "" ? issue.message : `${key}: ${issue.message}`;
    return [{ line: lineOf(document, issue.path, lines), message, fix }];
  });
  return problems.sort((a, b) => a.line - b.line);
}

function unknownKey(path: readonly PropertyKey[], line: number): Problem {
  const known = keysAt[path.slice(0, -1).join(".")] ?? [];
  const fix = didYouMean(String(path.at(-1)), known) ?? `use one of: ${known.join(", ")}`;
  return { line, message: `${path.join(".")}: there is no such key`, fix };
}

/** The one step that mends a value that does not fit its key. */
function fixFor([section, key, item]: readonly PropertyKey[], value: unknown): string {
  if (section === undefined || key === undefined) {
    return `write keys and values, such as ${String(section ?? "tools")}: {${keysAt[String(section ?? "tools")]?.[0]}: …}`;
  }
  if (section === "risk") {
    return (typeof value === "string" ? didYouMean(value, riskDecisions) : null) ?? "write allow, ask or deny";
  }
  if (item !== undefined && value === "*") return "to let nobody be asked, write agents: {allow: []}";
  return item === undefined ? `write a list of names: ${String(key)}: [a, b]` : "write a name";
}

function invalid(file: string, problems: readonly Problem[]): TroupeError {
  const [first] = problems;
  const shown = problems.slice(0, problemsShown).map(({ line, message }) => `line ${line}: ${message}`);
  const more = problems.length > problemsShown ? ` (and ${problems.length - problemsShown} more)` : "";
  const where = `line ${first?.line ?? 1} of ${basename(file)}`;
  return new TroupeError("INVALID_POLICY", `${file} is not a policy: ${shown.join("; ")}${more}`, {
    fix: first?.fix ? `${where}: ${first.fix}` : `correct ${where}`,
  });
}

const problemsShown = 3;
