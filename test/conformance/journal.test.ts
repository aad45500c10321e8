import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryJournal } from "@troupe/core/memory";
import { openSqliteJournal } from "@troupe/recorder";
import { describe } from "vitest";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { useNats } from "../nats/ports.fixture.ts";
import { type JournalUnderTest, journalConformance } from "./journal.ts";

journalConformance("memory", { outlives: false, open: openInMemory });
journalConformance("SQLite", { outlives: true, open: openInFolder });

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "over a real server" : natsServerMissing, () => {
  const nats = useNats();

  journalConformance("NATS", {
    outlives: true,
    async open() {
      const namespace = nats().freshNamespace();
      let ports = await nats().open({ namespace });
      return {
        journal: ports.journal,
        async reopen() {
          await ports.dispose();
          ports = await nats().open({ namespace });
          return ports.journal;
        },
        dispose: () => ports.dispose(),
      };
    },
  });
});

async function openInMemory(): Promise<JournalUnderTest> {
  const journal = createMemoryJournal();
  return { journal, reopen: async () => createMemoryJournal(), dispose: () => journal.close() };
}

async function openInFolder(): Promise<JournalUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), "troupe-journal-"));
  const file = join(folder, "journal.db");
  let journal = await openSqliteJournal({ file });
  return {
    journal,
    async reopen() {
      await journal.close();
      journal = await openSqliteJournal({ file });
      return journal;
    },
    async dispose() {
      await journal.close();
      await rm(folder, { recursive: true });
    },
  };
}
