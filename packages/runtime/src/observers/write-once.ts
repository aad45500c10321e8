import { createHash } from "node:crypto";
import type { ObservedCall, ObserverScope } from "./observer.ts";

/** The file of a call's record. Its name depends on the call only, so a repeated observer finds its own file. */
export function recordPath(folder: string, { tool, key }: Pick<ObservedCall, "tool" | "key">): string {
  return `${folder}/${tool}-${createHash("sha256").update(key).digest("hex").slice(0, 12)}.json`;
}

/** Writes a record as JSON, unless the file exists. */
export async function writeOnce(path: string, record: object, { files, workspace }: ObserverScope): Promise<void> {
  if ((await files.read(workspace, path)) !== null) return;
  await files.replace(workspace, path, `${JSON.stringify(record, null, 2)}\n`, null);
}
