import { listOf } from "../../base/wording.ts";

const days: Readonly<Record<string, string>> = {
  ...{ MO: "Monday", TU: "Tuesday", WE: "Wednesday", TH: "Thursday", FR: "Friday", SA: "Saturday", SU: "Sunday" },
};
const units: Readonly<Record<string, string>> = { DAILY: "day", WEEKLY: "week", MONTHLY: "month", YEARLY: "year" };

/**
 * A rule for people.
 *
 * @example
 * recurrenceText("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"); // "every 2 weeks on Tuesday"
 */
export function recurrenceText(rule: string): string {
  const parts = new Map(rule.split(";").map((part) => part.split("=") as [string, string]));
  const unit = units[parts.get("FREQ") ?? ""];
  if (unit === undefined) return "repeated";
  const interval = Number(parts.get("INTERVAL") ?? 1);
  const every = interval > 1 ? `every ${interval} ${unit}s` : `every ${unit}`;
  const named = (parts.get("BYDAY") ?? "").split(",").flatMap((day) => days[day] ?? []);
  if (named.length === 5 && !named.includes("Saturday") && !named.includes("Sunday")) return "every weekday";
  return named.length === 0 ? every : `${every} on ${listOf(named)}`;
}
