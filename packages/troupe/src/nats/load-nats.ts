import { loadOptional } from "@troupe/core/internal";
import { ownVersion } from "../version.ts";

/** The package for many machines. */
export type NatsPackage = typeof import("@troupe/nats");

/** Loads `@troupe/nats`, which a troupe on one machine does not need. Throws `MISSING_PACKAGE` if it is not installed. */
export function loadNats(): Promise<NatsPackage> {
  return loadOptional(`@troupe/nats@${ownVersion()}`, () => import("@troupe/nats"));
}
