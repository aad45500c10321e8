import { createHash } from "node:crypto";
import type { HeldFile } from "./open-folder.ts";

/** The version of a file: the SHA-256 of its content. */
export function versionOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const shortLength = 12;

/** The form that models see. */
export function shortVersion(version: string): string {
  return version.slice(0, shortLength);
}

export interface FileBytes {
  bytes: Buffer;
  version: string;
}

/** The whole content of a file; null if it is larger than `bytesMax`, also if it grows meanwhile. */
export async function readHeldFile(file: HeldFile, bytesMax: number): Promise<FileBytes | null> {
  await using handle = await file.open();
  const { size } = await handle.stat();
  if (size > bytesMax) return null;
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await handle.read(bytes, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  const content = bytes.subarray(0, length);
  return { bytes: content, version: versionOf(content) };
}
