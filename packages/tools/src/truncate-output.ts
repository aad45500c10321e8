import type { Blobs } from "@troupe/core";
import { endWithinBytes, startWithinBytes, type Truncation, truncationNotice } from "@troupe/core/internal";

export interface TruncatedOutput {
  output: string;
  /** Blob hash of the whole output. Null where it is not stored. */
  outputRef: string | null;
}

export interface TruncateOptions {
  bytesMax: number;
  blobs: Blobs | null;
  /** The reference that the run can pass to recall. Null where it cannot recall. */
  reference: string | null;
}

/** Share of the beginning in a truncated output. The end shows how the work finished. */
const beginningShare = 0.75;

/**
 * Truncates an output to its beginning and its end, with a notice between them that counts towards the limit. The whole
 * output is stored in `blobs`. Never throws.
 */
export async function truncateOutput(
  output: string,
  { bytesMax, blobs, reference }: TruncateOptions,
): Promise<TruncatedOutput> {
  const bytes = Buffer.from(output);
  if (bytes.byteLength <= bytesMax) return { output, outputRef: null };
  const { outputRef, why } = await store(bytes, blobs);
  const rest: Truncation["rest"] = outputRef !== null && reference !== null ? { reference } : { why };
  const { length } = output;
  const bytesLeft = Math.max(
    0,
    bytesMax - Buffer.byteLength(truncationNotice({ from: length, to: length, length, rest })),
  );
  const beginning = startWithinBytes(output, Math.ceil(bytesLeft * beginningShare), "");
  const end = endWithinBytes(output, bytesLeft - Buffer.byteLength(beginning), "");
  const notice = truncationNotice({ from: beginning.length, to: length - end.length, length, rest });
  return { output: `${beginning}${notice}${end}`, outputRef };
}

async function store(bytes: Uint8Array, blobs: Blobs | null): Promise<{ outputRef: string | null; why: string }> {
  if (!blobs) return { outputRef: null, why: "they are not kept: ask for less at a time" };
  try {
    return { outputRef: await blobs.put(bytes), why: "they cannot be read from here: ask for less at a time" };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { outputRef: null, why: `they could not be kept (${why}): ask for less at a time` };
  }
}
