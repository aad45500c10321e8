import { z } from "zod";

/** How hard a model is to think. What it means in a provider's words is that provider's adapter's affair. */
export const Effort = z.enum(["none", "low", "medium", "high", "max"]);
export type Effort = z.infer<typeof Effort>;
