import type { ModelCallOptions } from "@troupe/core";
import type { LiveDetail } from "./effect.ts";

type Retry = Parameters<NonNullable<ModelCallOptions["onRetry"]>>[0];

/** What is shown of a model call that was turned away, and will be made again by itself. */
export function retrying({ error, waitMs, tries, triesMax }: Retry): LiveDetail {
  const { type, message } = error;
  return { kind: "model.retrying", type, message, waitMs, tries, triesMax };
}
