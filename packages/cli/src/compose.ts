import { TroupeError } from "@troupe/core";
import type { Composition } from "./troupe.ts";

/** Stands in until the packages are put together. */
export const composition: Composition = {
  start: () => Promise.reject(notYet()),
  connect: () => {
    throw notYet();
  },
  openReader: async () => null,
  loadCompany: () => Promise.reject(notYet()),
  validateAgents: () => Promise.reject(notYet()),
  storeVersions: { journal: 1, record: 1 },
};

function notYet(): TroupeError {
  return new TroupeError("INTERNAL", "this build has no composition", { fix: "pnpm build" });
}
