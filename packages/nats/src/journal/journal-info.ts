import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { JetStreamApi } from "../jetstream/api.ts";
import { journalIdOf } from "../streams/definitions.ts";

/** The state of the journal's stream, from its leader. */
export interface JournalInfo {
  /** Identity of this journal. */
  id: string;
  /** Sequence of the newest message that the stream ever had. */
  lastSequence: number;
  /** Time of this answer by the server's clock. */
  atMs: number;
}

const Info = z.object({
  created: z.string(),
  config: z.object({ name: z.string(), metadata: z.record(z.string(), z.string()).exactOptional() }),
  state: z.object({ last_seq: z.int() }),
  ts: z.string(),
});

/** Rejects with `JOURNAL_LOST` if the stream does not exist. */
export async function journalInfo(api: JetStreamApi, stream: string): Promise<JournalInfo> {
  const info = await api.call(`STREAM.INFO.${stream}`, Info);
  if (!info) throw new TroupeError("INTERNAL", `the server returned no info of the stream ${stream}`);
  return { id: journalIdOf(info), lastSequence: info.state.last_seq, atMs: Date.parse(info.ts) };
}
