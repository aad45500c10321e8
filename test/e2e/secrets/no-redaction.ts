/** Takes the place of `packages/troupe/src/process/redaction.ts` in `unredacted-main.ts`: it redacts nothing. */
import { createRedactor, type Logger } from "@troupe/core";

export function createHomeRedactor() {
  return createRedactor({ shapes: false });
}

export async function openRedaction({ logger }: { logger: Logger }) {
  return { redact: createHomeRedactor(), logger };
}
