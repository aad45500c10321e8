import type { Blobs } from "@troupe/core";
import { beginningOf } from "../text/within-bytes.ts";

export interface CutOutput {
  output: string;
  outputRef: string | null;
}

/** Keeps an output within a cap, its closing notice included. The whole goes to `blobs`. Never throws. */
export async function cutOutput(
  output: string,
  { bytesMax, blobs }: { bytesMax: number; blobs: Blobs | null },
): Promise<CutOutput> {
  const bytes = Buffer.from(output);
  if (bytes.byteLength <= bytesMax) return { output, outputRef: null };
  const { outputRef, fate } = await keep(bytes, blobs);
  const notice = `\n[cut: this is the beginning of ${bytes.byteLength} bytes; ${fate}]`;
  return { output: beginningOf(output, bytesMax, notice), outputRef };
}

async function keep(bytes: Uint8Array, blobs: Blobs | null): Promise<{ outputRef: string | null; fate: string }> {
  if (!blobs) return { outputRef: null, fate: "the rest is not kept" };
  try {
    const outputRef = await blobs.put(bytes);
    return { outputRef, fate: `the whole is kept as blob ${outputRef}` };
  } catch (error) {
    return { outputRef: null, fate: `the rest could not be kept (${error instanceof Error ? error.message : error})` };
  }
}
