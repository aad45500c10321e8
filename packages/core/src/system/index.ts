/** The machine's own clock and ids. Nothing else of core reads the time, and core itself never imports this. */
export { systemClock, systemIds } from "./clock.ts";
