import { TroupeError } from "@troupe/core";
import { didYouMean, shortList, Token } from "@troupe/core/internal";
import { z } from "zod";
import { formatValue } from "./problem-report.ts";

const wholeNumber = "expected a whole number of 1 or more";
const count = z.int(wholeNumber).min(1, wholeNumber);
const depth = "expected a whole number from 0 to 10";
const text = z.string("expected text").trim().min(1, "expected text");
const roleName = "expected a name of letters, digits, - and _";
const RoleName = z
  .string(roleName)
  .regex(/^[A-Za-z0-9_-]{1,80}$/, roleName)
  .pipe(Token);

const Role = z.looseObject(
  {
    RoleId: RoleName,
    DisplayName: text.exactOptional(),
    ModelId: text.exactOptional(),
    SystemPromptFile: text,
    CanDelegate: z.boolean("expected true or false").default(false),
    AllowedDelegations: z.array(z.string("expected the RoleId of a role"), "expected a list of RoleIds").default([]),
    MaxIterations: count.exactOptional(),
    MaxDurationMs: count.exactOptional(),
  },
  "expected an object with RoleId and SystemPromptFile",
);
/** A role as `appsettings.json` describes it. */
export type SettingsRole = z.infer<typeof Role>;

const AgentRoles = z.looseObject(
  {
    MaxDepth: z.int(depth).min(0, depth).max(10, depth).default(2),
    DefaultMaxIterations: count.default(20),
    DefaultMaxDurationMs: count.default(300_000),
    Roles: z
      .array(Role, "expected a list of roles")
      .min(1, "expected at least one role")
      .max(100, "expected at most 100"),
  },
  "expected an object with Roles",
);
/** The section `AgentRoles` of `appsettings.json`. */
export type AgentRoles = z.infer<typeof AgentRoles>;

export interface SettingsFile {
  roles: AgentRoles;
  /** Keys that have no meaning here, with their JSON paths. */
  ignored: readonly string[];
}

/**
 * Reads the section `AgentRoles` of an `appsettings.json`. Comments, trailing commas and keys in other case are accepted, as
 * by .NET. Throws `INVALID_CONFIG` with the JSON path of each mistake.
 *
 * @example
 * readSettings("appsettings.json", '{"AgentRoles": {"Roles": [{"RoleId": "main", "SystemPromptFile": "main.md"}]}}').roles.MaxDepth; // 2
 */
export function readSettings(file: string, json: string): SettingsFile {
  const settings = inKnownCase(parseJson(file, json), ["AgentRoles"]);
  if (!isObject(settings) || settings.AgentRoles === undefined) {
    const message = "there is no AgentRoles at the top of the file";
    throw invalidSettings(file, [message], 'add "AgentRoles": {"Roles": […]}, or name another file');
  }
  const section = inKnownCase(settings.AgentRoles, Object.keys(AgentRoles.shape));
  if (isObject(section) && Array.isArray(section.Roles)) {
    section.Roles = section.Roles.map((role) => inKnownCase(role, Object.keys(Role.shape)));
  }
  const parsed = AgentRoles.safeParse(section);
  if (!parsed.success)
    throw invalidSettings(
      file,
      parsed.error.issues.map((issue) => describeIssue(section, issue)),
    );
  const roles = parsed.data;
  const problems = [...repeatedRoles(roles), ...unknownTargets(roles), ...delegationCycles(roles)];
  if (problems.length > 0) throw invalidSettings(file, problems);
  return { roles, ignored: ignoredKeys(roles) };
}

/** At most so many mistakes are in one message. */
const problemsMax = 10;

export function invalidSettings(file: string, problems: readonly string[], fix?: string): TroupeError {
  const shown = problems.slice(0, problemsMax).join("; ");
  const more = problems.length > problemsMax ? `; and ${problems.length - problemsMax} more` : "";
  return new TroupeError("INVALID_CONFIG", `${file}: ${shown}${more}`, {
    fix: fix ?? `correct ${file} and import it again; nothing was written`,
  });
}

/** .NET allows comments and trailing commas. Both become spaces, so that positions in messages stay right. */
function parseJson(file: string, json: string): unknown {
  const blank = (match: string): string => (match.startsWith('"') ? match : match.replace(/[^\n]/g, " "));
  const plain = json
    .replace(/^\uFEFF/, " ")
    .replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, blank)
    .replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, blank);
  try {
    return JSON.parse(plain);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidSettings(file, [`the file is not JSON: ${reason}`]);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The same object with keys as the documentation writes them. An exact key wins over one in other case. */
function inKnownCase(value: unknown, known: readonly string[]): unknown {
  if (!isObject(value)) return value;
  const exact = new Map(known.map((key) => [key.toLowerCase(), key]));
  const renamed = Object.entries(value).map(([key, each]): [string, unknown] => {
    const name = exact.get(key.toLowerCase());
    return [name !== undefined && !Object.hasOwn(value, name) ? name : key, each];
  });
  // A value of null counts as absent, as in .NET.
  return Object.fromEntries(renamed.filter(([, each]) => each !== null));
}

function pathOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`));
  return `AgentRoles${parts.join("")}`;
}

function describeIssue(section: unknown, { path, message }: z.core.$ZodIssue): string {
  let value = section;
  for (const part of path) value = isObject(value) || Array.isArray(value) ? Reflect.get(value, part) : undefined;
  return `${pathOf(path)} is ${value === undefined ? "missing" : formatValue(value)}; ${message}`;
}

/** Roles become files, and some file systems do not tell cases apart. */
function repeatedRoles({ Roles }: AgentRoles): string[] {
  const first = new Map<string, number>();
  return Roles.flatMap(({ RoleId }, i) => {
    const earlier = first.get(RoleId.toLowerCase());
    if (earlier === undefined) first.set(RoleId.toLowerCase(), i);
    if (earlier === undefined) return [];
    return [
      `${pathOf(["Roles", i, "RoleId"])} is ${formatValue(RoleId)}, like ${pathOf(["Roles", earlier, "RoleId"])}`,
    ];
  });
}

function unknownTargets({ Roles }: AgentRoles): string[] {
  const known = Roles.map(({ RoleId }) => RoleId);
  return Roles.flatMap(({ AllowedDelegations }, i) =>
    AllowedDelegations.flatMap((target, at) => {
      if (known.includes(target)) return [];
      const hint = didYouMean(target, known) ?? `the roles are ${shortList(known)}`;
      return [
        `${pathOf(["Roles", i, "AllowedDelegations", at])} is ${formatValue(target)}, which is not a role; ${hint}`,
      ];
    }),
  );
}

/** The roles that a role may delegate to. `CanDelegate: false` wins over its list. */
export function targetsOf({ CanDelegate, AllowedDelegations }: SettingsRole): readonly string[] {
  return CanDelegate ? AllowedDelegations : [];
}

/** The first circle of delegations, at the entry that closes it. */
function delegationCycles({ Roles }: AgentRoles): string[] {
  const indexes = new Map(Roles.map(({ RoleId }, i) => [RoleId, i]));
  const cleared = new Set<string>();
  const search = (id: string, chain: readonly string[]): string | null => {
    if (cleared.has(id)) return null;
    const i = indexes.get(id) ?? 0;
    const role = Roles[i];
    for (const target of role ? targetsOf(role) : []) {
      const above = [...chain, id];
      if (above.includes(target)) {
        const circle = [...above.slice(above.indexOf(target)), target].join(" → ");
        const at = role?.AllowedDelegations.indexOf(target) ?? 0;
        return `${pathOf(["Roles", i, "AllowedDelegations", at])} closes a circle of delegations: ${circle}`;
      }
      const found = search(target, above);
      if (found !== null) return found;
    }
    cleared.add(id);
    return null;
  };
  for (const { RoleId } of Roles) {
    const found = search(RoleId, []);
    if (found !== null) return [found];
  }
  return [];
}

function ignoredKeys(section: AgentRoles): string[] {
  const ofRoles = section.Roles.flatMap((role, i) =>
    Object.keys(role).flatMap((key) => (Object.hasOwn(Role.shape, key) ? [] : [pathOf(["Roles", i, key])])),
  );
  const own = Object.keys(section).flatMap((key) => (Object.hasOwn(AgentRoles.shape, key) ? [] : [pathOf([key])]));
  return [...own, ...ofRoles];
}
