import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCodeOf } from "@troupe/core/internal";
import { z } from "zod";
import { writeFileAtomic } from "../disk/atomic-write.ts";

/**
 * Records of one kind, a file each: a write replaces one as a whole, so that processes do not disturb each other. Names
 * are hashed, and can be anything.
 */
export interface MemoryFiles<T> {
  get(place: readonly string[], name: string): Promise<T | null>;
  /** All in a place. One that is damaged, or of a later version, is passed over. */
  all(place: readonly string[]): Promise<T[]>;
  count(place: readonly string[]): Promise<number>;
  put(place: readonly string[], name: string, record: T): Promise<void>;
  remove(place: readonly string[], name: string): Promise<void>;
}

export function openMemoryFiles<T>(folder: string, schema: z.ZodType<T>): MemoryFiles<T> {
  const folderOf = (place: readonly string[]): string => join(folder, ...place.map(keyOf));
  const fileOf = (place: readonly string[], name: string): string => join(folderOf(place), `${keyOf(name)}.json`);

  const read = async (file: string): Promise<T | null> => {
    try {
      return schema.parse(JSON.parse(await readFile(file, "utf8")));
    } catch (error) {
      if (errorCodeOf(error) === "ENOENT" || error instanceof z.ZodError || error instanceof SyntaxError) return null;
      throw error;
    }
  };
  const files = async (place: readonly string[]): Promise<string[]> => {
    const names = await readdir(folderOf(place)).catch((error: unknown) => {
      if (errorCodeOf(error) === "ENOENT") return [];
      throw error;
    });
    return names.filter((name) => name.endsWith(".json")).sort();
  };

  return {
    get: (place, name) => read(fileOf(place, name)),
    async all(place) {
      const records = await Promise.all((await files(place)).map((name) => read(join(folderOf(place), name))));
      return records.filter((record) => record !== null);
    },
    count: async (place) => (await files(place)).length,
    async put(place, name, record) {
      const file = fileOf(place, name);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFileAtomic(file, Buffer.from(`${JSON.stringify(record)}\n`), { mode: 0o600 });
    },
    remove: (place, name) => rm(fileOf(place, name), { force: true }),
  };
}

/** What a workspace is known by, by whatever way it was reached. */
export async function workspaceKey(workspace: string): Promise<string> {
  return keyOf(await realpath(workspace).catch(() => workspace));
}

/** Of a name that may be anything: no part of it is ever a path. */
export function keyOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 40);
}
