import type { Journal, ToolContext } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";

export interface SeenVersions {
  /**
   * The versions of a file that the run has seen. Null among them means that the run saw that the file was missing. An
   * empty set means that the run has not looked at the file.
   */
  of(context: ToolContext, real: string): Promise<ReadonlySet<string | null>>;
  note(context: ToolContext, real: string, version: string | null): void;
}

/** The version of each file that one run saw last. */
interface RunVersions {
  /** From calls of this process. The journal may not have their outcomes yet. */
  inMemory: Map<string, string | null>;
  /** From all calls that have ended, in any process and by any tool. */
  journaled: Map<string, string | null>;
  /** Index of the first journal entry that has not been read. */
  next: number;
}

const runsMax = 500;

/**
 * Remembers which version of each file a run saw last, from memory and from the run's journal. After a restart only the
 * journal is left. Where the two differ, both count, because the calls of one turn end in any order.
 */
export function createSeenVersions(journal: Pick<Journal, "readRun"> | null): SeenVersions {
  const runs = new Map<string, RunVersions>();

  const versionsOf = ({ session, run }: ToolContext): RunVersions => {
    const key = `${session}/${run}`;
    const versions = runs.get(key) ?? { inMemory: new Map(), journaled: new Map(), next: 0 };
    runs.delete(key);
    runs.set(key, versions);
    const oldest = runs.keys().next().value;
    if (runs.size > runsMax && oldest !== undefined) runs.delete(oldest);
    return versions;
  };

  const readNewEntries = async (versions: RunVersions, { session, run }: ToolContext): Promise<void> => {
    const from = versions.next;
    const entries = (await journal?.readRun(session, run, from)) ?? [];
    // Another call may have processed some of these entries while this one waited.
    for (const text of entries.slice(versions.next - from)) {
      const entry = openEntry(text);
      versions.next += 1;
      if (entry.kind !== "tool.finished") continue;
      for (const { path, version } of entry.outcome.seen) versions.journaled.set(path, version);
    }
  };

  return {
    async of(context, real) {
      const versions = versionsOf(context);
      await readNewEntries(versions, context);
      const known = [versions.inMemory, versions.journaled].filter((map) => map.has(real));
      return new Set(known.map((map) => map.get(real) ?? null));
    },
    note(context, real, version) {
      versionsOf(context).inMemory.set(real, version);
    },
  };
}

export interface RecentTexts {
  /** @param version the whole version, or its beginning as models see it */
  get(version: string): string | null;
  put(version: string, text: string): void;
}

/** Caches the texts that were read and written last, by version. A conflict message shows the difference to them. */
export function createRecentTexts({ charactersMax = 32 * 1024 * 1024 } = {}): RecentTexts {
  const texts = new Map<string, string>();
  let characters = 0;

  const drop = (version: string): void => {
    characters -= texts.get(version)?.length ?? 0;
    texts.delete(version);
  };

  return {
    get(version) {
      for (const [known, text] of texts) if (known.startsWith(version)) return text;
      return null;
    },
    put(version, text) {
      drop(version);
      if (text.length > charactersMax / 2) return;
      texts.set(version, text);
      characters += text.length;
      for (const oldest of texts.keys()) {
        if (characters <= charactersMax) break;
        drop(oldest);
      }
    },
  };
}
