import type { Scenario } from "../harness/scenario.ts";
import { storm } from "./storm.ts";

/** In the order of the catalogue. */
export const scenarios: readonly Scenario[] = [storm];
