import { defaultPolicy, GrantLayer, type Policy } from "@troupe/core";
import {
  AgentName,
  CommandPolicy,
  DelegationPolicy,
  DiskPolicy,
  didYouMean,
  noHostDecisions,
  parseCommandPattern,
  riskDecisions,
  SandboxPolicy,
  SavedFilesPolicy,
  sandboxModes,
  WebPolicy,
  WriteScope,
} from "@troupe/core/internal";
import { keysAt, parseStrictYaml, type YamlForm } from "@troupe/core/yaml";
import { z } from "zod";
import { globMatcher } from "../search/glob-pattern.ts";

const Decision = z.enum(riskDecisions);
const ToolNames = z.array(z.string().trim().min(1).refine(isToolItem, "is not a pattern of commands"));

/** A glob pattern relative to a workspace. A path that leads out of it would match nothing. */
const FilePattern = z
  .string()
  .min(1)
  .refine((pattern) => !pattern.startsWith("/") && !pattern.split("/").includes(".."), "leads out of the workspace")
  .refine(isGlobPattern, "is no valid pattern");

/** Schema of `policy.yaml`. Every key is optional; unknown keys are errors. */
const PolicyFile = z.strictObject({
  tools: z
    .strictObject({ allow: ToolNames.optional(), deny: ToolNames.default([]), ask: ToolNames.default([]) })
    .prefault({}),
  agents: z
    .strictObject({ allow: z.array(z.literal("*").or(AgentName)).optional(), disabled: z.array(AgentName).default([]) })
    .prefault({}),
  risk: z
    .strictObject({
      low: Decision.default(defaultPolicy.risk.low),
      medium: Decision.default(defaultPolicy.risk.medium),
      high: Decision.default(defaultPolicy.risk.high),
    })
    .prefault({}),
  commands: CommandPolicy,
  /** Folders outside of which no agent may write. */
  writes: WriteScope.optional(),
  sandbox: SandboxPolicy,
  disk: DiskPolicy,
  web: WebPolicy,
  delegation: DelegationPolicy,
  savedFiles: SavedFilesPolicy,
  cacheReads: z.boolean().default(defaultPolicy.cacheReads),
  /** Files with private data. */
  privateFiles: z.array(FilePattern).default([]),
});

const form: YamlForm<typeof PolicyFile> = {
  schema: PolicyFile,
  code: "INVALID_POLICY",
  what: "a policy",
  fixFor,
};

/**
 * Parses the text of a policy. Throws `INVALID_POLICY`, with the line, for any mistake.
 *
 * @example
 * parsePolicy("tools: {deny: [shell]}\nrisk: {medium: ask}", "policy.yaml").risk.medium; // "ask"
 */
export function parsePolicy(text: string, file: string): Policy {
  const { value } = parseStrictYaml(text, file, form);
  const {
    tools,
    agents,
    risk,
    commands,
    writes,
    sandbox,
    web,
    delegation,
    savedFiles,
    cacheReads,
    privateFiles,
    disk,
  } = value;
  const layer = GrantLayer.parse({
    from: "policy",
    kind: "policy",
    tools: tools.allow ?? null,
    denyTools: tools.deny,
    agents: agents.allow ?? null,
    denyAgents: agents.disabled,
    writes: writes ?? null,
  });
  const ask = tools.ask.length > 0 ? { ask: tools.ask } : {};
  return { layer, risk, ...ask, commands, sandbox, disk, web, delegation, savedFiles, cacheReads, privateFiles };
}

function isToolItem(item: string): boolean {
  try {
    parseCommandPattern(item);
    return true;
  } catch {
    return false;
  }
}

function isGlobPattern(pattern: string): boolean {
  try {
    globMatcher(pattern);
    return true;
  } catch {
    return false;
  }
}

/** The fix for a key without keys of its own. */
const wholeFixes: ReadonlyMap<PropertyKey, string> = new Map(
  Object.entries({
    cacheReads: "write cacheReads: true or cacheReads: false",
    privateFiles: 'write a list of patterns relative to a workspace: privateFiles: ["customers/**"]',
    savedFiles: "write whole numbers of megabytes: savedFiles: {fileMb: 8, totalMb: 256}",
    writes: "write a list of folders: writes: [src, test]",
  }),
);

/** The fix for a value that does not match its key. */
function fixFor([section, key, item]: readonly PropertyKey[], value: unknown): string {
  const whole = section === undefined ? undefined : wholeFixes.get(section);
  if (whole !== undefined) return whole;
  if (section === undefined || key === undefined) {
    return `write keys and values, such as ${String(section ?? "tools")}: {${keysAt(PolicyFile, [section ?? "tools"])[0]}: …}`;
  }
  if (section === "risk" || section === "commands") {
    return (typeof value === "string" ? didYouMean(value, riskDecisions) : null) ?? "write allow, ask or deny";
  }
  const fixForKey = fixesBySection.get(String(section));
  if (fixForKey) return fixForKey(String(key), value);
  if (section === "tools" && typeof value === "string" && /[()]/.test(value)) {
    return 'write a tool and the first words of its commands: "shell(git status:*)"';
  }
  if (item !== undefined && value === "*") return "to allow no agents, write agents: {allow: []}";
  return item === undefined ? `write a list of names: ${String(key)}: [a, b]` : "write a name";
}

const fixesBySection = new Map([
  ["sandbox", fixForSandbox],
  ["disk", fixForDisk],
  ["delegation", fixForDelegation],
]);

function fixForDisk(key: string): string {
  return `write a whole number of MB, such as ${key}: ${key === "freeMb" ? 1_024 : DiskPolicy.parse(undefined).sessionMb}`;
}

function fixForSandbox(key: string, value: unknown): string {
  const { mode, readable, ...usual } = defaultPolicy.sandbox;
  if (key === "mode") {
    return (typeof value === "string" ? didYouMean(value, sandboxModes) : null) ?? `write ${sandboxModes.join(", ")}`;
  }
  if (key === "readable") return "write a list of absolute paths: readable: [/opt/data]";
  if (key === "network") return "write network: true or network: false";
  const number = Object.entries(usual).find(([name]) => name === key)?.[1];
  return `write a whole number that is large enough, such as ${key}: ${number}`;
}

function fixForDelegation(key: string, value: unknown): string {
  if (key === "workspaceLostMs") return "write milliseconds, at least 1000, or a duration: workspaceLostMs: 10m";
  return (typeof value === "string" ? didYouMean(value, noHostDecisions) : null) ?? "write fail or queue";
}
