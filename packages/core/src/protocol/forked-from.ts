import { z } from "zod";
import { Id } from "./ids.ts";

/** Origin of a forked session: the last step of the original that it has. Step 0 is the start of the run. */
export const ForkedFrom = z.object({ session: Id, run: Id, step: z.int().nonnegative() });
export type ForkedFrom = z.infer<typeof ForkedFrom>;

/** Host of the entries that a fork copied: no host of the fork has paid for them. A replay does not compare hosts. */
export const forkHost = "fork";
