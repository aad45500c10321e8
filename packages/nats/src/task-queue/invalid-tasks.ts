import type { Logger } from "@troupe/core";
import { TroupeError } from "@troupe/core";
import type { InvalidMessageKind, InvalidMessages } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Delivery } from "./pulls.ts";

/** What comes out of the work queue and cannot be taken up, and what does not come. Each kind is logged once. */
export interface InvalidTasks {
  /** Messages so far that were none of troupe's. */
  readonly refused: number;
  /** None of ours: it does not come again. */
  end(delivery: Delivery, why: string): void;
  /** For somebody else, or for another time. */
  leave(delivery: Delivery, why: string): void;
  /** Nothing can be taken for now. */
  outage(error: unknown): void;
}

export interface InvalidTasksOptions {
  link: NatsLink;
  logger: Logger;
  leaseMs: number;
  /** Counts them, by kind. */
  invalidMessages: InvalidMessages;
}

export function createInvalidTasks({ link, logger, leaseMs, invalidMessages }: InvalidTasksOptions): InvalidTasks {
  const logged = new Set<string>();
  let refused = 0;

  const once = (why: string, details: object, message: string): void => {
    if (logged.has(why)) return;
    logged.add(why);
    logger.warn({ ...details, why }, message);
  };
  const say = ({ reply }: Delivery, word: string): void => {
    if (link.connected) link.connection.publish(reply, word);
  };
  const count = (kind: InvalidMessageKind, { subject }: Delivery): void => void invalidMessages.note(kind, subject);

  return {
    get refused() {
      return refused;
    },
    end(delivery, why) {
      refused += 1;
      count("foreign", delivery);
      say(delivery, "+TERM");
      once(why, { subject: delivery.subject, refused }, "message in the work queue refused");
    },
    leave(delivery, why) {
      // Each time that it comes again is the same message.
      if (delivery.count === 1) count("newer", delivery);
      say(delivery, `-NAK {"delay":${Math.round(leaseMs * 1_000_000)}}`);
      once(why, { subject: delivery.subject }, "task left to others");
    },
    outage(error) {
      const why = TroupeError.is(error) ? error.message : String(error);
      once(why, { err: error }, "tasks cannot be taken for now");
    },
  };
}
