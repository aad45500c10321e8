import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { createSubjects, type Entry } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";

export interface StoredEntry {
  entry: Entry;
  text: string;
  /** When the server stored it, by its wall clock. */
  storedAt: number;
}

/**
 * All entries of the journal's stream, by run, in the order in which they are stored there: read with the vendor's
 * client, and with nothing of ours that writes or reads it otherwise.
 */
export async function readJournalStream(url: string, namespace = "troupe"): Promise<Map<string, StoredEntry[]>> {
  const connection = await connect({ servers: url.split(","), timeout: 5_000 });
  try {
    const stream = `${namespace}_journal`;
    const subjects = createSubjects(namespace);
    const { state } = await (await jetstreamManager(connection)).streams.info(stream);
    const runs = new Map<string, StoredEntry[]>();
    if (state.messages === 0) return runs;
    const consumer = await jetstream(connection).consumers.get(stream);
    const messages = await consumer.consume();
    for await (const message of messages) {
      // A message without compare-and-set is not from troupe, and must have no effect.
      const isOurs = message.headers?.has("Nats-Expected-Last-Subject-Sequence") ?? false;
      if (isOurs && subjects.parse(message.subject)?.kind === "journal") {
        for (const text of textsIn(message.string())) {
          const entry = openEntry(text);
          const stored = { entry, text, storedAt: Math.floor(Number(message.timestampNanos / 1_000_000n)) };
          runs.set(entry.run, [...(runs.get(entry.run) ?? []), stored]);
        }
      }
      if (message.seq >= state.last_seq) break;
    }
    return runs;
  } finally {
    await connection.close();
  }
}

/** A message holds the entries of one append, one entry per line. */
function textsIn(body: string): string[] {
  return body.split("\n").filter(Boolean);
}

/** Tasks in the work queue, and the number that hosts hold. */
export async function readTaskStream(url: string, namespace = "troupe"): Promise<{ tasks: number; held: number }> {
  const connection = await connect({ servers: url.split(","), timeout: 5_000 });
  try {
    const manager = await jetstreamManager(connection);
    const stream = `${namespace}_tasks`;
    const { state } = await manager.streams.info(stream);
    let held = 0;
    for await (const { num_ack_pending } of manager.consumers.list(stream)) held += num_ack_pending;
    return { tasks: state.messages, held };
  } finally {
    await connection.close();
  }
}
