import type { ApprovalRow, LiveEvent, RunResponse, TroupeService } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import type { TroupeEvent } from "./options.ts";

type Listener = (event: TroupeEvent) => void;

/** A session that was submitted, with the root run of its newest turn. */
export interface StartedSession {
  session: string;
  run: string;
}

/**
 * Calls `listener` for each live event and each new request for approval of a session, until the returned function is
 * called. Null follows every session.
 */
export function followSession(
  service: Pick<TroupeService, "record" | "onLive">,
  session: string | null,
  listener: Listener,
): () => void {
  const isOurs = (of: string): boolean => session === null || of === session;
  const seen = new Set<string>();
  const onApproval = (approval: ApprovalRow): void => {
    if (approval.state !== "waiting" || seen.has(approval.id)) return;
    seen.add(approval.id);
    listener({ type: "approval.requested", session: approval.session, run: approval.run, approval });
  };
  const stops = [
    service.onLive((event) => {
      if (isOurs(event.session)) listener(toTroupeEvent(event));
    }),
    service.record.onChange(({ approvals }) => {
      for (const approval of approvals) if (isOurs(approval.session)) onApproval(approval);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function toTroupeEvent({ v: _version, kind, ...fields }: LiveEvent): TroupeEvent {
  return { type: kind, ...fields } as TroupeEvent;
}

/** Resolves with the response of a turn once the record has it. Rejects with the reason of `signal`. */
export function responseOf(
  { record }: Pick<TroupeService, "record">,
  { session, run }: StartedSession,
  signal: AbortSignal,
): Promise<RunResponse> {
  return new Promise((resolve, reject) => {
    let isDone = false;
    const finish = (act: () => void): void => {
      if (isDone) return;
      isDone = true;
      stop();
      signal.removeEventListener("abort", abort);
      act();
    };
    const look = (): void => {
      record.response(session).then(
        (response) => {
          if (response?.runId === run) finish(() => resolve(response));
        },
        (error) => finish(() => reject(error)),
      );
    };
    const onChange = ({ sessions }: RecordChange): void => {
      if (sessions.some((row) => row.session === session && row.rootRun === run)) look();
    };
    const abort = (): void => finish(() => reject(signal.reason));
    const stop = record.onChange(onChange);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    else look();
  });
}

/** A queue that one consumer reads with `for await`. It ends with the session, or when the consumer leaves. */
export function createEventQueue(onLeave: () => void) {
  const waiting: TroupeEvent[] = [];
  let wake: (() => void) | null = null;
  let isEnded = false;
  let failure: { error: unknown } | null = null;
  const signal = (): void => {
    wake?.();
    wake = null;
  };
  return {
    push(event: TroupeEvent): void {
      waiting.push(event);
      signal();
    },
    end(): void {
      isEnded = true;
      signal();
    },
    fail(error: unknown): void {
      failure = { error };
      signal();
    },
    async *read(): AsyncGenerator<TroupeEvent> {
      try {
        for (;;) {
          const next = waiting.shift();
          if (next !== undefined) yield next;
          else if (failure) throw failure.error;
          else if (isEnded) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        onLeave();
      }
    },
  };
}
