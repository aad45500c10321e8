import type { EntryBody } from "@troupe/core";
import { answeredEffect } from "@troupe/core/internal";
import { withRecordedUsage } from "../host/run/lost-usage.ts";

interface WaitingEntry {
  body: EntryBody;
  key: string;
  pass: (recorded: EntryBody) => void;
}

/** Holds the entries of all runs until the recording says that it is their turn. */
export interface ReplayGate {
  /**
   * Resolves to the entry when it may be written, with the recorded estimates. For an entry that was not recorded, it never
   * resolves.
   */
  admit(run: string, body: EntryBody): Promise<EntryBody>;
  /** Admits the waiting entry with the recorded entry's key, even if its content differs. False if none waits. */
  pass(run: string, recorded: EntryBody): boolean;
  waiting(run: string): readonly EntryBody[];
  /** Drops the waiting entries of a host that is gone. */
  clear(run: string): void;
}

export function createReplayGate(onArrival: () => void): ReplayGate {
  const byRun = new Map<string, WaitingEntry[]>();
  return {
    admit(run, body) {
      onArrival();
      return new Promise((resolve) => {
        const pass = (recorded: EntryBody): void => resolve(withRecordedUsage(body, recorded));
        byRun.set(run, [...(byRun.get(run) ?? []), { body, key: entryKeyOf(body), pass }]);
      });
    },
    pass(run, recorded) {
      const all = byRun.get(run) ?? [];
      const key = entryKeyOf(recorded);
      const same = all.filter((waiting) => waiting.key === key);
      // Of several outcomes of one effect the newest counts. A repeatable entry was recorded each time.
      const found = isRepeatable(recorded) ? same[0] : same.at(-1);
      if (!found) return false;
      const passed = isRepeatable(recorded) ? [found] : same;
      byRun.set(
        run,
        all.filter((waiting) => !passed.includes(waiting)),
      );
      found.pass(recorded);
      return true;
    },
    waiting: (run) => (byRun.get(run) ?? []).map(({ body }) => body),
    clear: (run) => void byRun.delete(run),
  };
}

function isRepeatable({ kind }: EntryBody): boolean {
  return kind === "child.waiting";
}

/** Identifies an entry within its run, without its content. */
function entryKeyOf(body: EntryBody): string {
  switch (body.kind) {
    case "tool.started":
      return `${body.kind}/${body.step}/${body.call}`;
    case "child.waiting":
      return `${body.kind}/${body.step}/${body.call}/${body.item}/${body.attempt}/${body.waiting}`;
    case "inbox.received":
      return `${body.kind}/${body.seq}`;
    default:
      return answeredEffect(body) ?? body.kind;
  }
}
