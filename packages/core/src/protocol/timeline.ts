import { z } from "zod";
import { Id } from "./ids.ts";

/**
 * An event in the work of a run, from its journal. `queued` is the plan of its parent, `delegated` the plan of the run
 * itself for its children.
 */
export const TimelineKind = z.enum([
  "queued",
  "opened",
  "model",
  "tool",
  "delegated",
  "asked",
  "answered",
  "paused",
  "resumed",
  "parked",
  "settled",
]);
export type TimelineKind = z.infer<typeof TimelineKind>;

export const TimelineEvent = z.object({
  run: Id,
  kind: TimelineKind,
  /** Wall clock of the host, in ms. The end of a model call or of a tool call. */
  at: z.int(),
  /** How long a model call or a tool call took. */
  durationMs: z.number().exactOptional(),
  /** The tool of a call, the id of an approval, or the number of children. */
  name: z.string().exactOptional(),
});
export type TimelineEvent = z.infer<typeof TimelineEvent>;

/** Events of a session's runs, in the order of the record. */
export const TimelinePage = z.object({
  events: z.array(TimelineEvent),
  /** The place after which the page begins: 0 if the record was made anew since the asked place. */
  from: z.int(),
  /** The place after which the next page begins. */
  next: z.int(),
  /** Whether further events are stored already. */
  more: z.boolean(),
});
export type TimelinePage = z.infer<typeof TimelinePage>;
