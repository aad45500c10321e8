import { readFile, stat } from "node:fs/promises";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import type { YamlForm } from "@troupe/core/yaml";
import type { z } from "zod";

/** No settings of people are longer. */
const settingsBytesMax = 1_000_000;

/** The text of a file of settings; null where there is none. */
export async function readSettings(file: string, { code, what }: Pick<YamlForm<z.ZodType>, "code" | "what">) {
  try {
    const { size } = await stat(file);
    if (size > settingsBytesMax) throw new Error(`it has ${size} bytes, and ${settingsBytesMax} are the most`);
    return await readFile(file, "utf8");
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errorCodeOf(cause) ?? "")) return null;
    const why = cause instanceof Error ? cause.message : String(cause);
    const the = what.replace(/^an? /, "the ");
    throw new TroupeError(code, `${the} ${file} cannot be read: ${why}`, {
      fix: `make ${file} a file that you can read, or remove it`,
      cause,
    });
  }
}
