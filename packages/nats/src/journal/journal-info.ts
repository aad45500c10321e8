import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { JetStreamApi } from "../jetstream/api.ts";
import { journalIdOf } from "../streams/streams.ts";

/** What the stream's leader says of it. */
export interface JournalInfo {
  /** Tells this journal from every other one. */
  id: string;
  /** Of the newest message that there ever was. */
  lastSequence: number;
  /** When it was said, by the server's clock. */
  atMs: number;
}

const Info = z.object({
  created: z.string(),
  config: z.object({ name: z.string(), metadata: z.record(z.string(), z.string()).exactOptional() }),
  state: z.object({ last_seq: z.int() }),
  ts: z.string(),
});

/** Rejects with `JOURNAL_LOST` when there is no such stream. */
export async function journalInfo(api: JetStreamApi, stream: string): Promise<JournalInfo> {
  const info = await api.call(`STREAM.INFO.${stream}`, Info);
  if (!info) throw new TroupeError("INTERNAL", `nothing is said of the stream ${stream}`);
  return { id: journalIdOf(info), lastSequence: info.state.last_seq, atMs: Date.parse(info.ts) };
}
