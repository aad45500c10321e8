import { type Logger, TroupeError } from "@troupe/core";
import type { InvalidMessages } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Delivery } from "./pulls.ts";

/** Handles deliveries that this process cannot run, and failed pulls. Logs the first one with each reason. */
export interface InvalidTasks {
  /** Number of messages that troupe did not write. */
  readonly refused: number;
  /** Removes a message that troupe did not write. */
  remove(delivery: Delivery, reason: string): void;
  /** Returns a task to the queue, for another process or a later time. */
  putOff(delivery: Delivery, reason: string): void;
  pullFailed(error: unknown): void;
}

export interface InvalidTasksOptions {
  link: NatsLink;
  logger: Logger;
  leaseMs: number;
  /** Counts them by kind. */
  invalidMessages: InvalidMessages;
}

export function createInvalidTasks({ link, logger, leaseMs, invalidMessages }: InvalidTasksOptions): InvalidTasks {
  const loggedReasons = new Set<string>();
  let refused = 0;

  const logOnce = (reason: string, details: object, message: string): void => {
    if (loggedReasons.has(reason)) return;
    loggedReasons.add(reason);
    logger.warn({ ...details, why: reason }, message);
  };
  const acknowledge = ({ reply }: Delivery, payload: string): void => {
    if (link.connected) link.connection.publish(reply, payload);
  };

  return {
    get refused() {
      return refused;
    },
    remove(delivery, reason) {
      const { subject } = delivery;
      refused += 1;
      invalidMessages.note("foreign", subject, reason);
      acknowledge(delivery, "+TERM");
      logOnce(reason, { subject, refused }, "message in the work queue refused");
    },
    putOff(delivery, reason) {
      const { subject } = delivery;
      // Later deliveries are the same message.
      if (delivery.count === 1) invalidMessages.note("newer", subject, reason);
      acknowledge(delivery, `-NAK {"delay":${Math.round(leaseMs * 1_000_000)}}`);
      logOnce(reason, { subject }, "task left to others");
    },
    pullFailed(error) {
      const reason = TroupeError.is(error) ? error.message : String(error);
      logOnce(reason, { err: error }, "tasks cannot be taken at the moment");
    },
  };
}
