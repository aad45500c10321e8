import { createHash } from "node:crypto";
import { TroupeError } from "@troupe/core";
import type { SessionFileContent, SessionFileUpload } from "@troupe/core/internal";

/** The body of an upload: JSON has no bytes, so they are encoded in base64, with their digest. */
export function uploadOf({ name, bytes, by }: { name: string; bytes: Uint8Array; by: string }): SessionFileUpload {
  return { name, content: Buffer.from(bytes).toString("base64"), sha256: sha256Of(bytes), by };
}

/** The bytes of a download. Throws `INVALID_MESSAGE` if they do not match their digest. */
export function downloadOf({ name, sha256, content }: SessionFileContent, url: string) {
  const bytes = Buffer.from(content, "base64");
  if (sha256Of(bytes) === sha256) return { name, sha256, bytes };
  throw new TroupeError("INVALID_MESSAGE", `${url} sent other bytes for ${JSON.stringify(name)} than it has stored`, {
    fix: "download the file again",
  });
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
