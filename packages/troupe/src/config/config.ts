import { join } from "node:path";
import { TroupeError } from "@troupe/core";
import { isOfflineModel, providerOf } from "@troupe/core/internal";
import type { StrictYaml } from "@troupe/core/yaml";
import { findCycle, type ModelNames, presets } from "@troupe/models";
import { createProjectTrust, type Project, type ProjectTrust, readSettings } from "@troupe/tools";
import { type Home, homeFiles } from "../home/home.ts";
import type { ConfiguredWebhook } from "../webhooks/start-webhooks.ts";
import { ConfigFile, configForm, parseConfig, projectConfigPath, userConfigFile } from "./config-file.ts";
import { type NatsSettingsWithOrigin, readNats } from "./nats-settings.ts";
import { type OfficeSettings, readOffice } from "./office-settings.ts";
import type { Origin, Setting } from "./origin.ts";
import { type Provider, readProviders, sizesOf } from "./providers.ts";

/** The settings that apply in a folder, each with its origin. Display code never shows the value of a key. */
export interface Config {
  /** Null if no model is configured. */
  model: Setting<string> | null;
  /** The team of requests that name neither a team nor an agent. Null: none. */
  team: Setting<string> | null;
  models: SettingMap;
  aliases: SettingMap;
  roles: SettingMap;
  fallbacks: SettingMap;
  providers: Provider[];
  nats: NatsSettingsWithOrigin;
  /** Tokens of the list of agents that a delegating model reads. Null for the default. */
  listTokens: Setting<number> | null;
  /** Whether a delegating model reads how earlier runs of each agent went. Null for the default, on. */
  hints: Setting<"on" | "off"> | null;
  /** Whose mail, calendar, contacts and channels the office tools use. */
  office: OfficeSettings;
  /** Which settled sessions a daemon deletes. Null: no limit. */
  retention: { maxAgeMs: Setting<number> | null; maxBytes: Setting<number> | null };
  /** Receivers of events, each with its origin. */
  webhooks: Setting<ConfiguredWebhook>[];
  names: ModelNames;
  files: { user: ConfigFileStatus; project: ConfigFileStatus | null };
  /** Settings of the project's file that are ignored because the project is not trusted. */
  untrusted: SettingRow[];
  /** Why the project's file is ignored, as a message. Null if it applies or does not exist. */
  ignoredReason: string | null;
  warnings: string[];
}

export interface SettingRow extends Setting<string> {
  key: string;
}

export type SettingMap = Readonly<Record<string, Setting<string>>>;

export interface ConfigFileStatus {
  path: string;
  exists: boolean;
}

export interface ConfigOptions {
  /** Its `trust.json` lists the trusted projects. */
  home: Home;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** The project whose file applies; null for none. */
  workspace: string | null;
}

/** Sections that a project's file may set. Other sections could send the user's key to another server. */
const projectSections = ["model", "team", "models", "aliases", "roles"] as const;
type UserSection = Exclude<keyof ConfigFile, (typeof projectSections)[number]>;
const userSections = (Object.keys(ConfigFile.shape) as (keyof ConfigFile)[]).filter(
  (section): section is UserSection => !projectSections.some((allowed) => allowed === section),
);

/** Reads the configuration of each folder, for the lifetime of the process. */
export interface ConfigSource {
  /** The configuration of a folder now; null for no folder. Throws `INVALID_CONFIG` if the project's file is invalid. */
  at(workspace: string | null): Promise<Config>;
}

/** Folders in the cache. */
const foldersMax = 256;

export interface OpenConfigOptions extends Omit<ConfigOptions, "workspace"> {
  /** @default the trust decisions of the home */
  trust?: Pick<ProjectTrust, "inspect">;
}

/**
 * Reads the variables and the user's file once, and a project's file on every call of `at`. A project's file applies only
 * if the user has trusted its current content. Throws `INVALID_CONFIG` if the user's file is invalid.
 */
export async function openConfig({ home, env, cwd, ...rest }: OpenConfigOptions): Promise<ConfigSource> {
  const trust = rest.trust ?? createProjectTrust({ file: homeFiles(home).trust });
  const user = await readUserLayer(userConfigFile({ env, cwd }));
  if (env.TROUPE_CONFIG && !user.exists) throw missingFile(user.path);
  const bare = mergeLayers(env, user, null);
  const cache = new Map<string, { stamp: string; config: Config }>();
  return {
    async at(workspace) {
      if (workspace === null) return bare;
      const project = await trust.inspect(workspace);
      const stamp = `${project.status}/${project.hash}/${project.problem?.message ?? ""}`;
      const known = cache.get(workspace);
      if (known?.stamp === stamp) return known.config;
      const config = configForProject(env, user, { workspace, project });
      cache.set(workspace, { stamp, config });
      const oldest = cache.keys().next().value;
      if (cache.size > foldersMax && oldest !== undefined) cache.delete(oldest);
      return config;
    },
  };
}

function configForProject(env: NodeJS.ProcessEnv, user: Layer, source: InspectedProject): Config {
  const { project } = source;
  if (project.status === "trusted") return mergeLayers(env, user, projectLayer(source));
  const config = mergeLayers(env, user, null);
  const path = join(source.workspace, projectConfigPath);
  const exists = project.files.some((file) => file.path === projectConfigPath);
  const unknown = project.problem && `${project.problem.message}; ${project.problem.fix}`;
  return {
    ...config,
    files: { ...config.files, project: { path, exists } },
    untrusted: exists ? untrustedRows(source) : [],
    ignoredReason: exists ? `${path} is ignored: the project is not trusted. Run: troupe trust` : unknown,
  };
}

interface InspectedProject {
  workspace: string;
  project: Project;
}

/** The settings of an untrusted file. An invalid untrusted file has none, so that it cannot block a command. */
function untrustedRows(source: InspectedProject): SettingRow[] {
  try {
    const { file, originOf } = withoutScripts(projectLayer(source));
    const maps = (["models", "aliases", "roles"] as const).flatMap((section) =>
      Object.entries(file[section]).map(([name, value]) => ({
        key: `${section}.${name}`,
        value,
        origin: originOf([section, name]),
      })),
    );
    const single = (["model", "team"] as const).flatMap((key) => {
      const value = file[key];
      return value === undefined ? [] : [{ key, value, origin: originOf([key]) }];
    });
    return [...single, ...maps];
  } catch {
    return [];
  }
}

/**
 * The configuration of a folder. Variables override the project's file, which overrides the user's file. Throws
 * `INVALID_CONFIG` if a file is invalid.
 *
 * @example
 * const cwd = process.cwd();
 * const { model } = await readConfig({ home, env: process.env, cwd, workspace: cwd });
 */
export async function readConfig({ workspace, ...options }: ConfigOptions): Promise<Config> {
  return (await openConfig(options)).at(workspace);
}

function mergeLayers(env: NodeJS.ProcessEnv, user: Layer, project: Layer | null): Config {
  const layers = [user, ...(project ? [withoutScripts(project)] : [])];
  const providers = readProviders(env, { providers: user.file.providers, originOf: user.originOf });
  const maps = { models: merge(layers, "models"), aliases: merge(layers, "aliases") };
  const config: Config = {
    ...maps,
    model: settingOf(layers, "model", { variable: "TROUPE_MODEL", env }),
    team: settingOf(layers, "team", { variable: "TROUPE_TEAM", env }),
    roles: merge(layers, "roles"),
    fallbacks: merge([user], "fallbacks"),
    providers,
    nats: readNats(env, { nats: user.file.nats, originOf: user.originOf }),
    listTokens: listTokensOf(user),
    hints: hintsOf(user),
    office: readOffice({ office: user.file.office, originOf: user.originOf }),
    retention: retentionOf(user),
    webhooks: user.file.webhooks.map((value, i) => ({ value, origin: user.originOf(["webhooks", String(i)]) })),
    names: namesOf(providers, maps),
    files: { user: fileStatusOf(user), project: project && fileStatusOf(project) },
    untrusted: [],
    ignoredReason: null,
    warnings: [...providers.flatMap(({ warnings }) => warnings), ...(project ? ignoredSettings(project) : [])],
  };
  checkForCycles(config);
  return config;
}

interface Layer {
  from: "user" | "project";
  path: string;
  exists: boolean;
  file: ConfigFile;
  originOf(path: readonly string[]): Origin;
}

async function readUserLayer(path: string): Promise<Layer> {
  return layerOf(await readSettings(path, configForm), path, "user");
}

/** Parses the bytes that the trust check read, because the file can have changed since. */
function projectLayer({ workspace, project }: InspectedProject): Layer {
  const file = project.files.find(({ path }) => path === projectConfigPath);
  return layerOf(file ? file.bytes.toString("utf8") : null, join(workspace, projectConfigPath), "project");
}

function layerOf(text: string | null, path: string, from: Layer["from"]): Layer {
  const { value, lineOf }: StrictYaml<ConfigFile> = parseConfig(text ?? "", path);
  return {
    from,
    path,
    exists: text !== null,
    file: value,
    originOf: (key) => ({ from, where: `${path}:${lineOf(key)}` }),
  };
}

function fileStatusOf({ path, exists }: Layer): ConfigFileStatus {
  return { path, exists };
}

function missingFile(path: string): TroupeError {
  return new TroupeError("INVALID_CONFIG", `TROUPE_CONFIG names ${path}, which does not exist`, {
    fix: "troupe config init   # writes a template to that path",
  });
}

/** A scripted model can play any tool call, so a project's file must not select one. */
function withoutScripts(project: Layer): Layer {
  const { file } = project;
  const withoutOffline = (map: Record<string, string>) =>
    Object.fromEntries(Object.entries(map).filter(([, id]) => !isOfflineModel(id)));
  const { model } = file;
  return {
    ...project,
    file: {
      ...file,
      model: model !== undefined && isOfflineModel(model) ? undefined : model,
      models: withoutOffline(file.models),
      aliases: withoutOffline(file.aliases),
      roles: withoutOffline(file.roles),
    },
  };
}

function ignoredSettings({ file, originOf }: Layer): string[] {
  const at = (key: string[]) => originOf(key).where;
  const sections = userSections.filter((section) =>
    Object.values(file[section]).some((value) => value !== undefined && !isEmpty(value)),
  );
  const scripts = projectSections.flatMap((section) => {
    const setting = file[section];
    if (section === "team") return [];
    if (typeof setting === "string") return isOfflineModel(setting) ? [at([section])] : [];
    return Object.entries(setting ?? {}).flatMap(([name, id]) => (isOfflineModel(id) ? [at([section, name])] : []));
  });
  return [
    ...sections.map(
      (section) =>
        `${at([section])}: ${section} is ignored: only your own configuration can set it (troupe config path)`,
    ),
    ...scripts.map((source) => `${source}: ignored: a project's file cannot select a scripted model`),
  ];
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function merge(layers: readonly Layer[], section: "models" | "aliases" | "roles" | "fallbacks"): SettingMap {
  const entries = layers.flatMap(({ file, originOf }) =>
    Object.entries(file[section]).map(([name, value]) => [name, { value, origin: originOf([section, name]) }] as const),
  );
  return Object.fromEntries(entries);
}

/** A setting with one value: of the variable, else of the last file that has it. */
function settingOf(
  layers: readonly Layer[],
  key: "model" | "team",
  { variable, env }: { variable: string; env: NodeJS.ProcessEnv },
): Setting<string> | null {
  const wanted = env[variable]?.trim();
  if (wanted) return { value: wanted, origin: { from: "environment", where: variable } };
  const layer = layers.findLast(({ file }) => file[key] !== undefined);
  const value = layer?.file[key];
  return layer === undefined || value === undefined ? null : { value, origin: layer.originOf([key]) };
}

/** The prompts of all runs on this machine use it, so a project's file does not set it. */
function listTokensOf({ file, originOf }: Layer): Setting<number> | null {
  const { listTokens } = file.delegation;
  return listTokens === undefined ? null : { value: listTokens, origin: originOf(["delegation", "listTokens"]) };
}

/** A project's file cannot delete sessions. */
function retentionOf({ file, originOf }: Layer): Config["retention"] {
  const { maxAge, maxBytes } = file.retention;
  const setting = (key: string, value: number | undefined): Setting<number> | null =>
    value === undefined ? null : { value, origin: originOf(["retention", key]) };
  return { maxAgeMs: setting("maxAge", maxAge), maxBytes: setting("maxBytes", maxBytes) };
}

function hintsOf({ file, originOf }: Layer): Setting<"on" | "off"> | null {
  const { hints } = file.delegation;
  return hints === undefined ? null : { value: hints, origin: originOf(["delegation", "hints"]) };
}

function namesOf(providers: readonly Provider[], { models, aliases }: Pick<Config, "models" | "aliases">): ModelNames {
  // Configured providers come before the implied local servers.
  const ordered = [...providers.filter(({ isImplied }) => !isImplied), ...providers.filter((each) => each.isImplied)];
  const tiers = ordered.flatMap((provider) => {
    const sizes = sizesOf(provider);
    return sizes === null ? [] : [[provider.settings.id, sizes] as const];
  });
  const missing = Object.entries(presets).map(([id, { keyVariables }]) => [id, `export ${keyVariables[0]}=…`]);
  return {
    providers: [...ordered.map(({ settings }) => settings.id), "scripted", "replay"],
    tiers: Object.fromEntries(tiers),
    models: valuesOf(models),
    aliases: valuesOf(aliases),
    missing: Object.fromEntries(missing),
  };
}

function valuesOf(map: SettingMap): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([name, { value }]) => [name, value]));
}

/** Rejects names that refer to each other in a cycle. A name of an unknown model is allowed: another machine may know it. */
function checkForCycles({ names, models, aliases }: Config): void {
  for (const [name, { origin }] of Object.entries({ ...models, ...aliases })) {
    const circle = findCycle(name, names);
    if (!circle) continue;
    throw new TroupeError("INVALID_CONFIG", `${origin.where}: ${circle.join(" → ")} is a cycle`, {
      fix: `let ${name} name provider/model`,
    });
  }
}

/** The configured provider of a model id; null if there is none. */
export function findProvider({ providers }: Pick<Config, "providers">, id: string): Provider | null {
  const wanted = providerOf(id);
  return providers.find(({ settings }) => settings.id === wanted) ?? null;
}
