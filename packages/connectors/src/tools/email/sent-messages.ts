import type { ToolContext } from "@troupe/core";
import type { DeliveryStatus, MailConnector } from "../../ports/mail.ts";
import type { OfficeConnection } from "../calls/office-call.ts";

/** The newest message of each run. After a restart, the keys of the run's earlier calls find it again. */
export interface SentMessages {
  add(context: Pick<ToolContext, "run">, id: string): void;
  /** Delivery of the newest message that this run sent. Null if it sent none. */
  newest(context: ToolContext, mail: OfficeConnection<MailConnector>): Promise<DeliveryStatus | null>;
}

const runsMax = 1_000;
/** A longer search would cost a request to the server for each call. */
const callsMax = 24;
const callsOfStepMax = 4;

export function createSentMessages(): SentMessages {
  const newestOf = new Map<string, string>();
  return {
    add({ run }, id) {
      newestOf.delete(run);
      newestOf.set(run, id);
      const [oldest] = newestOf.keys();
      if (newestOf.size > runsMax && oldest !== undefined) newestOf.delete(oldest);
    },
    async newest(context, mail) {
      const known = newestOf.get(context.run);
      if (known !== undefined) return await mail.call((port) => port.deliveryStatus({ id: known }));
      for (const idempotencyKey of earlierKeys(context)) {
        const found = await mail.call((port) => port.deliveryStatus({ idempotencyKey }));
        if (found !== null) return found;
      }
      return null;
    },
  };
}

/** Keys of the run's calls before this one, newest first: `RUN/STEP/CALL`. */
function earlierKeys({ run, idempotencyKey }: ToolContext): string[] {
  const [, step, call] = /\/(\d+)\/(\d+)$/.exec(idempotencyKey) ?? [];
  if (step === undefined || !idempotencyKey.startsWith(`${run}/`)) return [];
  const own = Array.from({ length: Number(call) }, (_, i) => [Number(step), Number(call) - 1 - i]);
  const steps = Array.from({ length: Number(step) }, (_, i) => Number(step) - 1 - i);
  const before = steps.flatMap((each) =>
    Array.from({ length: callsOfStepMax }, (_, i) => [each, callsOfStepMax - 1 - i]),
  );
  return [...own, ...before].slice(0, callsMax).map(([each, number]) => `${run}/${each}/${number}`);
}
