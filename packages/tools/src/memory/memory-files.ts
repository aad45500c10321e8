import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCodeOf } from "@troupe/core/internal";
import { z } from "zod";
import { writeFileAtomic } from "../disk/atomic-write.ts";

/**
 * Stores records of one kind, one file each. A write replaces a whole file, so processes do not disturb each other. Names
 * are hashed, so that any text is a valid name.
 */
export interface MemoryFiles<T> {
  get(folder: MemoryPath, name: string): Promise<T | null>;
  /** All records of a folder. It skips a damaged record and a record of a later version. */
  all(folder: MemoryPath): Promise<T[]>;
  count(folder: MemoryPath): Promise<number>;
  put(folder: MemoryPath, name: string, record: T): Promise<void>;
  remove(folder: MemoryPath, name: string): Promise<void>;
}

/** Names of nested folders. Each one is hashed. */
export type MemoryPath = readonly string[];

export function openMemoryFiles<T>(root: string, schema: z.ZodType<T>): MemoryFiles<T> {
  const pathOf = (folder: MemoryPath): string => join(root, ...folder.map(keyOf));
  const fileOf = (folder: MemoryPath, name: string): string => join(pathOf(folder), `${keyOf(name)}.json`);

  const read = async (file: string): Promise<T | null> => {
    try {
      return schema.parse(JSON.parse(await readFile(file, "utf8")));
    } catch (error) {
      if (errorCodeOf(error) === "ENOENT" || error instanceof z.ZodError || error instanceof SyntaxError) return null;
      throw error;
    }
  };
  const files = async (folder: MemoryPath): Promise<string[]> => {
    const names = await readdir(pathOf(folder)).catch((error: unknown) => {
      if (errorCodeOf(error) === "ENOENT") return [];
      throw error;
    });
    return names.filter((name) => name.endsWith(".json")).sort();
  };

  return {
    get: (folder, name) => read(fileOf(folder, name)),
    async all(folder) {
      const records = await Promise.all((await files(folder)).map((name) => read(join(pathOf(folder), name))));
      return records.filter((record) => record !== null);
    },
    count: async (folder) => (await files(folder)).length,
    async put(folder, name, record) {
      const file = fileOf(folder, name);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFileAtomic(file, Buffer.from(`${JSON.stringify(record)}\n`), { mode: 0o600 });
    },
    remove: (folder, name) => rm(fileOf(folder, name), { force: true }),
  };
}

/** The key of a workspace. All paths to it give the same key. */
export async function workspaceKey(workspace: string): Promise<string> {
  return keyOf(await realpath(workspace).catch(() => workspace));
}

/** Hashes a name, so that no part of it is used as a path. */
export function keyOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 40);
}
