import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import { resolveModelName } from "@troupe/models";
import type { Config } from "troupe/internal";
import { configTemplate } from "../config/config-template.ts";

/** The template of `troupe config init` with a default model. */
export function templateWithModel(model: string): string {
  return configTemplate.replace(/^# model: .*$/m, () => modelLine(model));
}

/** YAML reads a model name with a colon as text only if it is quoted where a space follows; JSON is always text. */
function modelLine(model: string): string {
  return /^[\w./:-]+$/.test(model) ? `model: ${model}` : `model: ${JSON.stringify(model)}`;
}

/** The full id of the configured model; null if none is configured or its name is unknown. */
export function configuredModel({ model, names }: Config): string | null {
  if (model === null) return null;
  try {
    return resolveModelName(model.value, names, null);
  } catch {
    return null;
  }
}

/** The lines that an existing configuration needs, so that the found model is the default. */
export function linesToAdd(config: Config, model: string | null): string[] {
  if (model === null) return [];
  // A variable ends with its shell. The setting of a file stays.
  const isOfFile = config.model !== null && config.model.origin.from !== "environment";
  return isOfFile && configuredModel(config) === model ? [] : [modelLine(model)];
}

/** Creates a configuration for this user only. Returns false if the file exists; it never overwrites one. */
export async function createConfiguration(path: string, text: string): Promise<boolean> {
  let isFolderMade = false;
  try {
    await mkdir(dirname(path), { recursive: true });
    isFolderMade = true;
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (cause) {
    // A file in the place of the folder has the same code.
    if (isFolderMade && errorCodeOf(cause) === "EEXIST") return false;
    throw new TroupeError("INVALID_CONFIG", `${path} cannot be written`, {
      cause,
      fix: "export TROUPE_CONFIG=<a file that you can write>",
    });
  }
}
