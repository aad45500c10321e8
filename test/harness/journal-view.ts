import path from "node:path";
import { type Entry, type InboxItem, silentLogger } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { openNatsLink, openNatsPorts } from "@troupe/nats";
import { readFeed } from "@troupe/runtime";
import type { TestContext } from "vitest";
import { readInboxFile, readJournalFile } from "./journal-file.ts";

/** The journal, which a test compares with other output. */
export interface JournalView {
  /** All entries, by run, in order. */
  runs(): Promise<Map<string, { entry: Entry; text: string }[]>>;
  /** Everything that was wished of a session, in order. */
  inbox(session: string): Promise<InboxItem[]>;
}

export function journalOfHome(home: string): JournalView {
  const file = path.join(home, "journal.db");
  return { runs: async () => readJournalFile(file), inbox: async (session) => readInboxFile(file, session) };
}

export async function journalOverNats(url: string, test: Pick<TestContext, "onTestFinished">): Promise<JournalView> {
  const link = await openNatsLink({ servers: url });
  const ports = await openNatsPorts({ link, clock: systemClock(), logger: silentLogger, createStreams: false });
  test.onTestFinished(async () => {
    await ports.close();
    await link.close();
  });
  return {
    async runs() {
      const runs = new Map<string, { entry: Entry; text: string }[]>();
      for (const item of await readFeed(ports.journal)) {
        if (item.kind !== "entry") continue;
        runs.set(item.run, [...(runs.get(item.run) ?? []), { entry: openEntry(item.text), text: item.text }]);
      }
      return runs;
    },
    inbox: async (session) => (await ports.journal.readInbox(session)).map(({ item }) => item),
  };
}
