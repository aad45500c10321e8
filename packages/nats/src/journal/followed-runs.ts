import type { Logger } from "@troupe/core";
import { type Clock, TroupeError } from "@troupe/core";
import type { OpenRun, Subjects } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { JetStreamApi } from "../jetstream/api.ts";
import type { StoredMessages } from "../jetstream/stored-messages.ts";
import { journalInfo } from "./journal-info.ts";
import { createOrderedReader } from "./ordered-reader.ts";
import { createRunIndex, type SettledSession } from "./run-index.ts";

/** Which runs are open: the headers of a stream, or of one session in it, followed from when it is first asked for. */
export interface FollowedRuns {
  /** @default all that are followed */
  openRuns(session?: string): Promise<OpenRun[]>;
  settled(): Promise<SettledSession[]>;
  forget(session: string, through: number): void;
  /** By the monotonic clock. */
  readonly askedAtMs: number;
  /** It will learn nothing more. */
  readonly isOver: boolean;
  close(): void;
}

export interface FollowedRunsOptions {
  link: NatsLink;
  api: JetStreamApi;
  stream: string;
  journalId: string;
  subjects: Subjects;
  stored: StoredMessages;
  clock: Clock;
  logger: Logger;
  /** @default all */
  session?: string;
}

/** Longest wait for a message that is there. */
const patienceMs = 10_000;
/** As a rule all comes in so short a time. */
const soonMs = 100;

export function createFollowedRuns(options: FollowedRunsOptions): FollowedRuns {
  const { api, stream, subjects, stored, clock, session } = options;
  const filters = session === undefined ? null : [subjects.all.journalOf(session), subjects.inbox(session)];
  const index = createRunIndex(subjects);
  const reader = createOrderedReader({
    ...options,
    after: 0,
    headersOnly: true,
    ...(filters ? { filters } : {}),
  });
  const waiting = new Set<() => void>();
  let sequence = 0;
  let askedAtMs = clock.monotonicMs();
  let ended: TroupeError | null = null;

  const tell = (): void => {
    for (const check of [...waiting]) check();
  };
  const follow = async (): Promise<void> => {
    for (;;) {
      const messages = await reader.next();
      if (!messages) break;
      for (const message of messages) index.learn(message);
      sequence = messages.at(-1)?.sequence ?? sequence;
      tell();
    }
  };
  const end = (error: TroupeError): void => {
    ended = error;
    tell();
  };
  follow().then(
    () => end(new TroupeError("CLOSED", "the journal is closed")),
    (error: unknown) =>
      end(
        TroupeError.is(error) ? error : new TroupeError("INTERNAL", `${stream} cannot be followed`, { cause: error }),
      ),
  );

  /** Whether it was learned up to there within a time. */
  const reached = (wanted: number, withinMs: number): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const stopWaiting = clock.after(withinMs, () => leave(() => resolve(false)));
      const leave = (then: () => void): void => {
        stopWaiting();
        waiting.delete(check);
        then();
      };
      const check = (): void => {
        const error = ended;
        if (error) leave(() => reject(error));
        else if (sequence >= wanted) leave(() => resolve(true));
      };
      waiting.add(check);
      check();
    });
  /** The next message to be learned, of those up to a sequence. What was purged never comes. */
  const nextUpTo = async (last: number): Promise<number | null> => {
    const found = await Promise.all(
      (filters ?? [">"]).map(async (subject) => (await stored.nextOf(subject, sequence + 1))?.sequence ?? Infinity),
    );
    const next = Math.min(...found);
    return next <= last ? next : null;
  };
  /** Resolves with the server's time once all is known here that the server had when it was asked. */
  const upToDate = async (): Promise<number> => {
    askedAtMs = clock.monotonicMs();
    const { lastSequence: last, atMs: nowMs } = await journalInfo(api, stream);
    if (sequence >= last || (!filters && (await reached(last, soonMs)))) return nowMs;
    for (;;) {
      const next = await nextUpTo(last);
      if (next === null) return nowMs;
      if (await reached(next, patienceMs)) continue;
      throw new TroupeError("TIMEOUT", `${stream} was not read up to ${next} in time`);
    }
  };

  return {
    async openRuns(of) {
      return index.open(await upToDate(), of);
    },
    async settled() {
      await upToDate();
      return index.settled();
    },
    forget: (of, through) => index.forget(of, through),
    get askedAtMs() {
      return askedAtMs;
    },
    get isOver() {
      return ended !== null;
    },
    close: () => reader.close(),
  };
}
