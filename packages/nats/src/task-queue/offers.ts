import type { JetStreamManager } from "@nats-io/jetstream";
import { type Clock, TroupeError } from "@troupe/core";
import { z } from "zod";
import type { NatsLink } from "../connection/link.ts";
import { unreachable } from "../connection/link-errors.ts";
import type { Requester } from "../connection/requester.ts";
import type { TaskMessage } from "./wire.ts";

/** What the stream says to a message: its place, or why there is none. */
const PubAck = z.object({
  error: z.object({ err_code: z.int().default(0), description: z.string().default("") }).exactOptional(),
});

/** "The store refuses", for whatever reason: the words say which. */
const storeRefuses = 10077;
const tryMs = 2_000;
const pauseMs = 100;

export interface Offers {
  /** Rejects with `UNREACHABLE` when nobody has answered in time. */
  publish(message: TaskMessage): Promise<"offered" | "duplicate">;
}

export interface OffersOptions {
  link: NatsLink;
  asks: Pick<Requester, "askOnce">;
  manager: JetStreamManager;
  stream: string;
  clock: Clock;
  /** How long an offer is tried. */
  patienceMs: number;
  isClosed(): boolean;
}

export function createOffers({ link, asks, manager, stream, clock, patienceMs, isClosed }: OffersOptions): Offers {
  /** A task that is there already, whatever the reason that this one was refused for. */
  const isThere = async (subject: string): Promise<boolean> => {
    try {
      return (await manager.streams.getMessage(stream, { last_by_subj: subject })) !== null;
    } catch (error) {
      throw unreachable(link.shown, error);
    }
  };

  /** Null when it is not known whether it arrived. */
  const tryOnce = async ({ subject, headers, bytes }: TaskMessage): Promise<"offered" | "duplicate" | null> => {
    let answer: Answer;
    try {
      answer = answerIn(await asks.askOnce({ subject, payload: bytes, headers, timeoutMs: tryMs }));
    } catch (error) {
      if (TroupeError.is(error) && error.code === "FORBIDDEN") throw error;
      if (TroupeError.is(error) && error.code === "INTERNAL") throw refused(stream, error);
      return null;
    }
    if (answer.kind === "stored") return "offered";
    if (answer.kind === "taken" || (await isThere(subject))) return "duplicate";
    throw refused(stream, answer.why);
  };

  return {
    async publish(message) {
      const untilMs = clock.monotonicMs() + patienceMs;
      for (;;) {
        if (isClosed()) throw new TroupeError("CLOSED", "the queue is closed");
        const answer = await tryOnce(message);
        if (answer) return answer;
        if (clock.monotonicMs() > untilMs) throw unreachable(link.shown);
        await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
      }
    },
  };
}

type Answer = { kind: "stored" } | { kind: "taken" } | { kind: "refused"; why: string };

function answerIn(text: string): Answer {
  const { error } = PubAck.parse(JSON.parse(text));
  if (!error) return { kind: "stored" };
  const { err_code: code, description } = error;
  if (code === storeRefuses && /per subject/.test(description)) return { kind: "taken" };
  return { kind: "refused", why: `${description} (${code})` };
}

function refused(stream: string, why: unknown): TroupeError {
  const said = why instanceof Error ? why.message : String(why);
  return new TroupeError("LIMIT_REACHED", `the work queue ${stream} takes no task: ${said}`, {
    fix: "look at it with `troupe nats check`",
    cause: why,
  });
}
