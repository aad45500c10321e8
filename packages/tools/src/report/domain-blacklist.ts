import type { Clock, ToolContext } from "@troupe/core";
import { z } from "zod";
import { openMemoryFiles, workspaceKey } from "../memory/memory-files.ts";
import { createSerialQueue } from "../serial-queue.ts";

/** Missing pages of a domain after which no page of it is fetched. */
const failuresMax = 3;
const dayMs = 24 * 60 * 60 * 1_000;
const ageDaysMax = 30;

/** Counts of one domain one after the other, so that exactly one of them sees the domain become blacklisted. */
const inTurn = createSerialQueue();

const MissingPage = z.object({ domain: z.string(), url: z.string(), at: z.iso.datetime() });

/** The domains of a workspace whose pages were missing too often. */
export interface DomainBlacklist {
  has(domain: string): Promise<boolean>;
  /**
   * Counts a missing page (1214). The same call and page count once, also after a kill.
   *
   * @returns the number of missing pages if the domain has just been blacklisted, otherwise null
   */
  add(url: string, call: string): Promise<number | null>;
}

/**
 * Opens the blacklist of a workspace. It is stored in the home, where no agent can write, and outlives the session. A
 * missing page counts for 30 days, so that a site that was repaired is read again.
 */
export async function openDomainBlacklist(
  { memoryFolder, clock }: { memoryFolder: string; clock: Clock },
  { workspace }: Pick<ToolContext, "workspace">,
): Promise<DomainBlacklist> {
  const files = openMemoryFiles(memoryFolder, MissingPage);
  const key = await workspaceKey(workspace);
  const folderOf = (domain: string): string[] => ["crawl-domains", key, domain];
  const countOf = async (domain: string): Promise<number> => {
    const oldest = clock.now() - ageDaysMax * dayMs;
    return (await files.all(folderOf(domain))).filter(({ at }) => Date.parse(at) > oldest).length;
  };
  return {
    has: async (domain) => (await countOf(domain)) >= failuresMax,
    add(url, call) {
      const domain = domainOf(url);
      return inTurn(`${key} ${domain}`, async () => {
        const before = await countOf(domain);
        await files.put(folderOf(domain), `${call} ${url}`, { domain, url, at: new Date(clock.now()).toISOString() });
        const after = await countOf(domain);
        return before < failuresMax && after >= failuresMax ? after : null;
      });
    },
  };
}

/** The host of a URL without `www.`. */
export function domainOf(url: string): string {
  return (URL.parse(url)?.hostname ?? "").replace(/^www\./, "");
}
