import { type AgentDefinition, TroupeError } from "@troupe/core";
import { type AgentProblem, TeamName } from "@troupe/core/internal";
import { assembleRegistry } from "./agent-registry.ts";
import { parseAgent } from "./parse-agent.ts";
import { invalidSettings, type SettingsFile, type SettingsRole, targetsOf } from "./settings-file.ts";
import { parseTeam } from "./team-file.ts";

export interface SettingsImport extends SettingsFile {
  /** Name of the settings file, for messages. */
  file: string;
  /** Name of the new team. */
  name: string;
  /** Text of the prompt of each role, by its `RoleId`. */
  prompts: ReadonlyMap<string, string>;
  /** `RoleId` of the agent that gets the request. @default main, or the only role that no other role may ask */
  entry?: string | undefined;
}

export interface ImportedTeam {
  /** Texts by file name. One of them is `team.yaml`. */
  files: Readonly<Record<string, string>>;
  /** The agents that the files define. */
  agents: readonly AgentDefinition[];
  entry: string;
  /** Facts of the settings that have no effect in the team. */
  warnings: readonly string[];
}

/**
 * Converts the section `AgentRoles` of an `appsettings.json` to the files of a team. The result validates: a mistake throws
 * `INVALID_CONFIG` or `INVALID_TEAM`.
 *
 * @example
 * const settings = readSettings("appsettings.json", json);
 * const { files } = importSettings({ ...settings, file: "appsettings.json", name: "mine", prompts });
 * Object.keys(files); // ["team.yaml", "main.md", "coder.md"]
 */
export function importSettings(settings: SettingsImport): ImportedTeam {
  const { name, roles, prompts } = settings;
  if (!TeamName.safeParse(name).success) {
    throw new TroupeError("USAGE", `${JSON.stringify(name)} is not a name for a team`, {
      fix: "use at most 40 small letters, digits and -: --name my-team",
    });
  }
  const entry = entryOf(settings);
  const files: Record<string, string> = { "team.yaml": teamText(settings, entry) };
  for (const role of roles.Roles) files[fileNameOf(role)] = agentText(role, prompts.get(role.RoleId) ?? "");
  const { agents, problems } = validate(name, files);
  const broken = problems.find(({ severity }) => severity === "error");
  if (broken) {
    throw new TroupeError("INVALID_TEAM", `the imported ${broken.path} would have an error: ${broken.message}`, {
      fix: broken.fix ?? "correct the settings or the prompt, and import them again; nothing was written",
    });
  }
  return { files, agents, entry, warnings: warningsOf(settings) };
}

function entryOf({ file, roles: { Roles }, entry }: SettingsImport): string {
  const ids = Roles.map(({ RoleId }) => RoleId);
  if (entry !== undefined) {
    if (ids.includes(entry)) return entry;
    const message = `${file} has no role ${JSON.stringify(entry)}; its roles are ${ids.join(", ")}`;
    throw new TroupeError("USAGE", message, { fix: `--entry ${ids[0] ?? "main"}` });
  }
  if (ids.includes("main")) return "main";
  const asked = new Set(Roles.flatMap(targetsOf));
  const [only, ...more] = ids.filter((id) => !asked.has(id));
  if (only !== undefined && more.length === 0) return only;
  const message = `AgentRoles.Roles has no role main, so it is open which of ${[only, ...more].join(", ")} gets the request`;
  throw invalidSettings(file, [message], `name it: --entry ${only ?? "main"}`);
}

/** JSON strings are YAML too, so no text can end its value. */
const quoted = (text: string): string => JSON.stringify(text.replace(/\s+/g, " ").trim());

function teamText({ file, name, roles }: SettingsImport, entry: string): string {
  return `# Imported from AgentRoles of ${file.replace(/\s/g, " ")}.
name: ${name}
description: ${quoted(`The agents of ${file}`)}
entry: ${entry}
defaults:
  maxDepth: ${roles.MaxDepth}
  limits:
    maxIterations: ${roles.DefaultMaxIterations}
    maxDurationMs: ${roles.DefaultMaxDurationMs}
`;
}

function agentText(role: SettingsRole, prompt: string): string {
  const { RoleId, DisplayName = RoleId, ModelId, MaxIterations, MaxDurationMs } = role;
  const limits = [
    ...(MaxIterations === undefined ? [] : [`    maxIterations: ${MaxIterations}`]),
    ...(MaxDurationMs === undefined ? [] : [`    maxDurationMs: ${MaxDurationMs}`]),
  ];
  const lines = [
    "---",
    `id: ${quoted(RoleId)}`,
    `name: ${quoted(DisplayName)}`,
    `description: ${quoted(descriptionOf(RoleId, DisplayName))}`,
    `model: ${quoted(ModelId ?? "inherit")}`,
    "subagents:",
    `  allow: ${JSON.stringify(targetsOf(role))}`,
    ...(limits.length > 0 ? ["troupe:", "  limits:", ...limits] : []),
    "---",
    "",
    prompt.replace(/^\uFEFF/, "").trim(),
    "",
  ];
  return lines.join("\n");
}

/** The settings do not say when to ask a role. These are the uses of the usual roles. */
const usualUses: Readonly<Record<string, string>> = {
  planner: "Use it for tasks of many steps, decisions on architecture, and roadmaps.",
  coder: "Use it for new features, changes over several files, and refactoring.",
  tester: "Use it to write tests, to run them, and to explain their results.",
  reviewer: "Use it before a change is committed, and for questions of security and architecture.",
  debugger: "Use it for failing tests, errors at run time, and slow code.",
};

function descriptionOf(id: string, displayName: string): string {
  const name = /[.!?]$/.test(displayName) ? displayName : `${displayName}.`;
  const use = Object.hasOwn(usualUses, id) ? usualUses[id] : undefined;
  return use === undefined ? name : `${name} ${use}`;
}

/** A README in a folder of agents is ignored. */
function fileNameOf({ RoleId }: SettingsRole): string {
  return RoleId.toLowerCase() === "readme" ? `${RoleId}-role.md` : `${RoleId}.md`;
}

function validate(
  name: string,
  files: Readonly<Record<string, string>>,
): { agents: readonly AgentDefinition[]; problems: readonly AgentProblem[] } {
  const origin = "project";
  const { "team.yaml": teamFile = "", ...agentFiles } = files;
  const team = parseTeam({ path: `${name}/team.yaml`, origin, text: teamFile });
  const agents = Object.entries(agentFiles).map(([path, text]) => parseAgent({ path, origin, text }));
  return assembleRegistry([], [], [{ team, agents, problems: [] }]);
}

function warningsOf({ roles: { Roles }, ignored }: SettingsImport): string[] {
  const unused = Roles.flatMap(({ RoleId, CanDelegate, AllowedDelegations }, i) => {
    const place = `AgentRoles.Roles[${i}]`;
    if (!CanDelegate && AllowedDelegations.length > 0) {
      return [`${place}: CanDelegate is not true, so ${RoleId} cannot use its AllowedDelegations`];
    }
    if (CanDelegate && AllowedDelegations.length === 0) {
      return [`${place}: AllowedDelegations is empty, so ${RoleId} cannot delegate`];
    }
    return [];
  });
  return [...ignored.map((path) => `${path} has no meaning in a team and was left out`), ...unused];
}
