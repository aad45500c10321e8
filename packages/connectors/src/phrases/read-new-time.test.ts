/** New times of events. It is Monday, 2 March 2026, 12:00 in Berlin. */
import { expect, it } from "vitest";
import { readNewTime } from "./read-new-time.ts";

const scope = { nowMs: Date.UTC(2026, 2, 2, 11), timeZone: "Europe/Berlin" };

it.each<[string, object]>([
  ["to Friday at 10am", { date: "2026-03-06", clock: "10:00", endClock: null }],
  ["to Friday", { date: "2026-03-06", clock: null }],
  ["to 9:30", { date: null, clock: "09:30" }],
  ["to 4pm tomorrow", { date: "2026-03-03", clock: "16:00" }],
  ["to next Monday from 2 to 4pm", { date: "2026-03-09", clock: "14:00", endClock: "16:00" }],
  ["to Monday at 9", { date: "2026-03-09", clock: "09:00" }],
  ["until 5", { clock: "17:00", assumptions: ["5 is read as 17:00"] }],
  ["to noon for 45 minutes", { clock: "12:00", minutes: 45 }],
  ["to the moon", { date: null, clock: null, endClock: null, minutes: null }],
])("%s", async (text, expected) => {
  expect(await readNewTime(text, scope)).toMatchObject(expected);
});
