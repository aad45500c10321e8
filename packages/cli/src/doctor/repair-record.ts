import { existsSync } from "node:fs";
import { TroupeError } from "@troupe/core";
import {
  acquireHome,
  embeddedStore,
  findOwner,
  type Home,
  homeFiles,
  rebuildRecord,
  recordStoreOf,
  verifyRecord,
} from "troupe/internal";
import { attempt, fixed, type Repair, skipped } from "./repair.ts";

/** Makes the record again if it is missing, damaged, behind its journal, or different from it. The journal stays as it is. */
export async function repairRecord(home: Home): Promise<Repair[]> {
  const { journal } = homeFiles(home);
  // The journal file of a home with a NATS server is an older one, and must not replace the record.
  if (!existsSync(journal) || (await recordStoreOf(home)) !== embeddedStore) return [];
  const fix = "troupe record rebuild";
  return await attempt(
    "record",
    { before: "the record could not be checked", fix: "troupe record verify" },
    async () => {
      const before = await describeDefect(home);
      if (before === null) return null;
      if (await isOwned(home)) {
        return skipped("record", before, { after: "a process uses the home", fix: `troupe down, then ${fix}` });
      }
      const [failed] = await attempt("record", { before, fix: "restore a backup: troupe restore FILE" }, async () => {
        const owned = await acquireHome(home);
        try {
          const { sessions } = await rebuildRecord(owned);
          return fixed("record", before, `rebuilt from the journal: ${sessions} sessions`);
        } finally {
          await owned.release();
        }
      });
      return failed ?? null;
    },
  );
}

/** The defect of the record. Null without one, and for a damaged journal, because the record is made from it. */
async function describeDefect(home: Home): Promise<string | null> {
  const { record } = homeFiles(home);
  if (!existsSync(record)) return `${record} is missing`;
  try {
    const { damage, differing, behind } = await verifyRecord({ home });
    if (damage.some(({ store }) => store === "journal")) return null;
    if (damage.length > 0) return `${damage.length} entries of ${record} are damaged`;
    if (differing.length > 0) return `${differing.length} sessions of ${record} differ from the journal`;
    return behind > 0 ? `${record} is ${behind} entries behind the journal` : null;
  } catch (thrown) {
    const isDamage = thrown instanceof TroupeError && thrown.code === "DATABASE_DAMAGED";
    if (isDamage && thrown.message.includes(record)) return thrown.message;
    throw thrown;
  }
}

/** An owner that does not answer counts as one. */
async function isOwned(home: Home): Promise<boolean> {
  return await findOwner(home, { patienceMs: 1_000 }).then(
    (owner) => owner !== null,
    () => true,
  );
}
