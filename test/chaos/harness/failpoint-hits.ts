import type { Failpoint } from "../../harness/failpoints.ts";

/** The minimum number of times that a host passes each failpoint while it runs the four child runs of one session. */
export const failpointHitsMin: Record<Failpoint, number> = {
  "claim:before": 4,
  "claim:after": 4,
  "intent:before": 4,
  "intent:after": 4,
  "effect:before": 12,
  "effect:after": 12,
  "append:before": 8,
  "append:after": 8,
  "settle:before": 4,
  "settle:after": 4,
  "ack:before": 4,
  "ack:after": 4,
};
