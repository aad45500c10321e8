import { readFile, stat } from "node:fs/promises";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import type { YamlForm } from "@troupe/core/yaml";
import type { z } from "zod";

const settingsBytesMax = 1_000_000;

/**
 * Reads a settings file. Null when it does not exist. Throws a `TroupeError` with the code of the form when it cannot be
 * read.
 */
export async function readSettings(file: string, { code, what }: Pick<YamlForm<z.ZodType>, "code" | "what">) {
  try {
    const { size } = await stat(file);
    if (size > settingsBytesMax) throw new Error(`it has ${size} bytes, over the limit of ${settingsBytesMax}`);
    return await readFile(file, "utf8");
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errorCodeOf(cause) ?? "")) return null;
    const why = cause instanceof Error ? cause.message : String(cause);
    const the = what.replace(/^an? /, "the ");
    throw new TroupeError(code, `${the} ${file} cannot be read: ${why}`, {
      fix: `make ${file} a readable file, or remove it`,
      cause,
    });
  }
}
