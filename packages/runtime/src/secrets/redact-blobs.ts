import { isUtf8 } from "node:buffer";
import type { Blobs, Redactor } from "@troupe/core";

/** Blobs in which no secret is kept. Bytes that are no text are looked through as well, character by byte. */
export function redactBlobs(blobs: Blobs, redact: Redactor): Blobs {
  return {
    put(bytes) {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const encoding = isUtf8(buffer) ? "utf8" : "latin1";
      const text = buffer.toString(encoding);
      const redacted = redact.text(text);
      return blobs.put(redacted === text ? bytes : Buffer.from(redacted, encoding));
    },
    get: (hash) => blobs.get(hash),
  };
}
