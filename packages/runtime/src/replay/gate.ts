import type { EntryBody } from "@troupe/core";
import { answeredEffect } from "@troupe/core/internal";

interface Waiting {
  body: EntryBody;
  key: string;
  pass: () => void;
}

/** Where the facts of all runs wait until the record says that they were written. */
export interface ReplayGate {
  /** Resolves when the fact is let through; one that the record does not have never is. */
  admit(run: string, body: EntryBody): Promise<void>;
  /** Lets through what stands where this entry was recorded, whatever it says. False while it is not there. */
  pass(run: string, recorded: EntryBody): boolean;
  waiting(run: string): readonly EntryBody[];
  /** Forgets what a host that is gone wanted to write. */
  clear(run: string): void;
}

export function createReplayGate(onArrival: () => void): ReplayGate {
  const byRun = new Map<string, Waiting[]>();
  return {
    admit(run, body) {
      onArrival();
      return new Promise((pass) => {
        byRun.set(run, [...(byRun.get(run) ?? []), { body, key: keyOf(body), pass }]);
      });
    },
    pass(run, recorded) {
      const all = byRun.get(run) ?? [];
      const key = keyOf(recorded);
      const same = all.filter((waiting) => waiting.key === key);
      // Of several outcomes the newest holds: those before were overtaken. What is no outcome is said each time.
      const found = isRepeatable(recorded) ? same[0] : same.at(-1);
      if (!found) return false;
      const gone = isRepeatable(recorded) ? [found] : same;
      byRun.set(
        run,
        all.filter((waiting) => !gone.includes(waiting)),
      );
      found.pass();
      return true;
    },
    waiting: (run) => (byRun.get(run) ?? []).map(({ body }) => body),
    clear: (run) => void byRun.delete(run),
  };
}

function isRepeatable({ kind }: EntryBody): boolean {
  return kind === "child.waiting";
}

/** The place of a fact in its run, whatever it says. */
function keyOf(body: EntryBody): string {
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
