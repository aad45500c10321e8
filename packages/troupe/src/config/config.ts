import { join } from "node:path";
import { TroupeError } from "@troupe/core";
import { isOfflineModel, providerOf } from "@troupe/core/internal";
import type { StrictYaml } from "@troupe/core/yaml";
import { findCycle, type ModelNames, presets } from "@troupe/models";
import { createProjectTrust, type Project, type ProjectTrust, readSettings } from "@troupe/tools";
import { type Home, homeFiles } from "../home/home.ts";
import { type ConfigFile, configForm, parseConfig, projectConfigPath, userConfigFile } from "./config-file.ts";
import { type NatsSettingsWithOrigin, readNats } from "./nats-settings.ts";
import type { Origin, Setting } from "./origin.ts";
import { type Provider, readProviders, sizesOf } from "./providers.ts";

/** What holds in a folder, and where each of it was said. Never holds a key that it shows. */
export interface Config {
  /** Null: nobody has named one. */
  model: Setting<string> | null;
  models: SettingMap;
  aliases: SettingMap;
  roles: SettingMap;
  fallbacks: SettingMap;
  providers: Provider[];
  nats: NatsSettingsWithOrigin;
  names: ModelNames;
  files: { user: ConfigFileStatus; project: ConfigFileStatus | null };
  /** What the folder's own file says, where it is not trusted: none of it is in force. */
  untrusted: SettingRow[];
  /** Why the folder's own file is not in force, in words; null where it is, or says nothing. */
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
  /** It says which folders are trusted. */
  home: Home;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** The folder whose own file has a say; null for none. */
  workspace: string | null;
}

/** Sections of a project's file that count. Whoever cloned it must not send a key elsewhere by it. */
const projectSections = ["model", "models", "aliases", "roles"] as const;

/** The configuration of every folder, for as long as a process lives. */
export interface ConfigSource {
  /** What holds in a folder now; null for no folder. Throws `INVALID_CONFIG` for a project's file that is wrong. */
  at(workspace: string | null): Promise<Config>;
}

/** Folders whose configuration is kept in memory at once. */
const foldersMax = 256;

export interface OpenConfigOptions extends Omit<ConfigOptions, "workspace"> {
  /** @default that of the home */
  trust?: Pick<ProjectTrust, "inspect">;
}

/**
 * Reads the variables and the user's file, which hold until the process ends, and projects' files at each look: they
 * count where somebody has accepted them as they are. Throws `INVALID_CONFIG` for a user's file that is wrong.
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
    ignoredReason: exists ? `${path} is not in force: not trusted (troupe trust)` : unknown,
  };
}

interface InspectedProject {
  workspace: string;
  project: Project;
}

/** What an inert file would say. One that is wrong stands in nobody's way: it says nothing. */
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
    const { model } = file;
    return model === undefined ? maps : [{ key: "model", value: model, origin: originOf(["model"]) }, ...maps];
  } catch {
    return [];
  }
}

/**
 * The configuration that holds in a folder: the environment over the project's file over the user's. Throws
 * `INVALID_CONFIG` for a file that is wrong.
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
    model: modelOf(env, layers),
    roles: merge(layers, "roles"),
    fallbacks: merge([user], "fallbacks"),
    providers,
    nats: readNats(env, { nats: user.file.nats, originOf: user.originOf }),
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

/** Of the bytes that were looked at: the file may be another by now. */
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
  return new TroupeError("INVALID_CONFIG", `TROUPE_CONFIG names ${path}, and there is no such file`, {
    fix: "troupe config init   # writes it, with every setting explained",
  });
}

/** A script that plays tool calls is a program: a folder's file must not have it run. */
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
  const sections = (["providers", "fallbacks", "nats"] as const).filter(
    (section) => Object.keys(file[section]).length > 0,
  );
  const scripts = projectSections.flatMap((section) => {
    const setting = file[section];
    if (typeof setting === "string") return isOfflineModel(setting) ? [at([section])] : [];
    return Object.entries(setting ?? {}).flatMap(([name, id]) => (isOfflineModel(id) ? [at([section, name])] : []));
  });
  return [
    ...sections.map(
      (section) =>
        `${at([section])}: ${section} count only in your own file (troupe config path), not in a project's: ignored`,
    ),
    ...scripts.map((source) => `${source}: a project's file cannot have a script answer: ignored`),
  ];
}

function merge(layers: readonly Layer[], section: "models" | "aliases" | "roles" | "fallbacks"): SettingMap {
  const entries = layers.flatMap(({ file, originOf }) =>
    Object.entries(file[section]).map(([name, value]) => [name, { value, origin: originOf([section, name]) }] as const),
  );
  return Object.fromEntries(entries);
}

function modelOf(env: NodeJS.ProcessEnv, layers: readonly Layer[]): Setting<string> | null {
  const wanted = env.TROUPE_MODEL?.trim();
  if (wanted) return { value: wanted, origin: { from: "environment", where: "TROUPE_MODEL" } };
  const layer = layers.findLast(({ file }) => file.model !== undefined);
  return layer?.file.model === undefined ? null : { value: layer.file.model, origin: layer.originOf(["model"]) };
}

function namesOf(providers: readonly Provider[], { models, aliases }: Pick<Config, "models" | "aliases">): ModelNames {
  // What somebody has set up is preferred to what merely could be there.
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

/** A map that goes in a circle is wrong whoever asks. One that leads to nothing may be meant for another machine. */
function checkForCycles({ names, models, aliases }: Config): void {
  for (const [name, { origin }] of Object.entries({ ...models, ...aliases })) {
    const circle = findCycle(name, names);
    if (!circle) continue;
    throw new TroupeError("INVALID_CONFIG", `${origin.where}: ${circle.join(" → ")} goes in a circle`, {
      fix: `let ${name} name provider/model`,
    });
  }
}

/** The provider of an id, if it is one of those that can be asked. */
export function findProvider({ providers }: Pick<Config, "providers">, id: string): Provider | null {
  const wanted = providerOf(id);
  return providers.find(({ settings }) => settings.id === wanted) ?? null;
}
