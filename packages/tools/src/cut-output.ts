import type { Blobs } from "@troupe/core";
import { endWithinBytes, startWithinBytes, type Truncation, truncationNotice } from "@troupe/core/internal";

export interface CutOutput {
  output: string;
  outputRef: string | null;
}

export interface CutOptions {
  bytesMax: number;
  blobs: Blobs | null;
  /** By what its run can recall it; null where that run cannot. */
  reference: string | null;
}

/** How much of what is shown is the beginning: the end says how it came out. */
const beginningShare = 0.75;

/**
 * Keeps an output within a cap: its beginning and its end, and between them a notice, which counts. The whole goes to
 * `blobs`. Never throws.
 */
export async function cutOutput(output: string, { bytesMax, blobs, reference }: CutOptions): Promise<CutOutput> {
  const bytes = Buffer.from(output);
  if (bytes.byteLength <= bytesMax) return { output, outputRef: null };
  const { outputRef, why } = await keep(bytes, blobs);
  const rest: Truncation["rest"] = outputRef !== null && reference !== null ? { reference } : { why };
  const { length } = output;
  const room = Math.max(0, bytesMax - Buffer.byteLength(truncationNotice({ from: length, to: length, length, rest })));
  const beginning = startWithinBytes(output, Math.ceil(room * beginningShare), "");
  const end = endWithinBytes(output, room - Buffer.byteLength(beginning), "");
  const notice = truncationNotice({ from: beginning.length, to: length - end.length, length, rest });
  return { output: `${beginning}${notice}${end}`, outputRef };
}

async function keep(bytes: Uint8Array, blobs: Blobs | null): Promise<{ outputRef: string | null; why: string }> {
  if (!blobs) return { outputRef: null, why: "they are not kept: ask for less at a time" };
  try {
    return { outputRef: await blobs.put(bytes), why: "they cannot be read from here: ask for less at a time" };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { outputRef: null, why: `they could not be kept (${why}): ask for less at a time` };
  }
}
