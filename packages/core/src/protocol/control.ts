import { z } from "zod";
import { Id, Token } from "./ids.ts";
import { Version } from "./version.ts";

/** What hosts are told over `control.all`, or one of them over `control.{host}`. Hints: none of them has to arrive. */
export const ControlMessage = z.discriminatedUnion("kind", [
  /** Something new in a session's inbox. The inbox itself is the truth. */
  z.object({ v: Version, kind: z.literal("inbox.announced"), session: Id }),
  /** Answered with `RunHolderQuery`: whoever was handed a run's task asks the host that claimed the run last. */
  z.object({ v: Version, kind: z.literal("run.asked"), session: Id, run: Id, epoch: z.int().positive() }),
  /** Every host announces itself at once. */
  z.object({ v: Version, kind: z.literal("hosts.asked") }),
  /** Takes nothing new, parks what it has for others, and leaves. */
  z.object({ v: Version, kind: z.literal("drain.asked"), host: Token, by: z.string() }),
]);
export type ControlMessage = z.infer<typeof ControlMessage>;

/** Whether a host still holds a run under that epoch. */
export const RunHolderReply = z.object({ v: Version, run: Id, holds: z.boolean() });
export type RunHolderReply = z.infer<typeof RunHolderReply>;
