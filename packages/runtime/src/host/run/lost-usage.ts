import type { EntryBody } from "@troupe/core";
import { deadlineTimer, isCancelItem, wasNotCharged } from "@troupe/core/internal";

/** An entry with a field for the estimated usage of the model call that it stops. */
export type StoppingBody = Extract<EntryBody, { lostUsage?: unknown }>;

/** Whether an entry stops the model call that runs when the machine gets it. */
export function stopsModelCall(body: EntryBody): body is StoppingBody {
  switch (body.kind) {
    case "inbox.received":
      return isCancelItem(body.item);
    case "timer.fired":
      return body.timer === deadlineTimer;
    case "run.parked":
      return body.reason === "drain";
    case "model.failed":
      return !wasNotCharged(body.error);
    default:
      return false;
  }
}

export function withoutLostUsage<B extends StoppingBody>(body: B): B {
  const { lostUsage: _, ...rest } = body;
  return rest as B;
}

/** The entry of a replay with the recorded estimate: a replay streams nothing. */
export function withRecordedUsage(body: EntryBody, recorded: EntryBody): EntryBody {
  const bare = "lostUsage" in body ? withoutLostUsage(body) : body;
  return "lostUsage" in recorded ? ({ ...bare, lostUsage: recorded.lostUsage } as EntryBody) : bare;
}
