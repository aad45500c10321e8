import { type BusMessage, decode, TroupeError } from "@troupe/core";
import type { z } from "zod";
import type { World } from "./world.ts";

/**
 * What a message of the bus says; null for one that does not fit, which is logged and passed over. Anybody in the
 * namespace can publish anything: nothing that is sent may hurt whoever hears it.
 */
export function heard<S extends z.ZodType>(
  schema: S,
  { subject, bytes }: BusMessage,
  { logger }: Pick<World, "logger">,
): z.output<S> | null {
  try {
    return decode(schema, bytes, `message on ${subject}`);
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    logger.warn({ subject, err: error }, "message refused");
    return null;
  }
}
