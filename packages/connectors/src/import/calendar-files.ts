import ICAL from "ical.js";
import { putEvent } from "../local/calendar/event-store.ts";
import type { LocalAccount } from "../local/local-account.ts";
import { addProblem, countRow, type ImportedFile } from "./import-report.ts";
import { type ParsedEvent, parseEvent } from "./parse-event.ts";
import { readText } from "./read-text.ts";

/** Events of an iCalendar file. */
export async function importIcs(path: string, account: LocalAccount, report: ImportedFile): Promise<void> {
  const components = readComponents(await readText(path), report);
  if (components.length === 0) throw new Error("has no event that can be read");
  const parsed = components.flatMap((component) => {
    try {
      return [parseEvent(component, account)];
    } catch (thrown) {
      addProblem(report, nameOf(component), thrown);
      return [];
    }
  });
  // A series is stored before its exceptions.
  const ordered = parsed.toSorted(
    (a, b) => Number(a.event.exceptionOf !== null) - Number(b.event.exceptionOf !== null),
  );
  for (const each of ordered) {
    try {
      account.database.transaction(() => storeEvent(account, each, report));
    } catch (thrown) {
      addProblem(report, each.name, thrown);
    }
  }
}

function nameOf(component: ICAL.Component): string {
  return `event ${JSON.stringify(String(component.getFirstPropertyValue("summary") ?? component.getFirstPropertyValue("uid")))}`;
}

/** All events of the file. If it is broken, each event that can be read alone. */
function readComponents(text: string, report: ImportedFile): ICAL.Component[] {
  try {
    return eventsIn(text);
  } catch (thrown) {
    addProblem(report, "the file", thrown);
    const zones = (text.match(/^BEGIN:VTIMEZONE[\s\S]*?^END:VTIMEZONE\s*$/gm) ?? []).join("\n");
    const events = text.match(/^BEGIN:VEVENT[\s\S]*?^END:VEVENT\s*$/gm) ?? [];
    return events.flatMap((event, i) => {
      try {
        return eventsIn(`BEGIN:VCALENDAR\n${zones}\n${event}\nEND:VCALENDAR`);
      } catch (error) {
        addProblem(report, `event ${i + 1}`, error);
        return [];
      }
    });
  }
}

function eventsIn(text: string): ICAL.Component[] {
  const parsed: unknown = ICAL.parse(text);
  if (!Array.isArray(parsed)) throw new Error("is not an iCalendar file");
  // A file with several calendars is a list of them.
  const calendars = (typeof parsed[0] === "string" ? [parsed] : parsed) as ConstructorParameters<
    typeof ICAL.Component
  >[0][];
  return calendars.flatMap((calendar) => new ICAL.Component(calendar).getAllSubcomponents("vevent"));
}

function storeEvent(
  { database, timeZone, clock }: LocalAccount,
  { event, cancelledMs, problems, name }: ParsedEvent,
  report: ImportedFile,
) {
  if (event.exceptionOf && !database.get("SELECT 1 FROM events WHERE id = ?", event.exceptionOf.series)) {
    throw new Error("changes an occurrence of an event that is not in the office");
  }
  const isNew = database.get("SELECT 1 FROM events WHERE id = ?", event.id) === undefined;
  const scope = { database, timeZone, nowMs: clock.now() };
  putEvent(scope, event);
  for (const { id, originalMs } of cancelledMs) {
    const exceptionOf = { series: event.id, originalMs };
    putEvent(scope, { ...event, id, exceptionOf, recurrence: null, isCancelled: true });
  }
  for (const problem of problems) addProblem(report, name, problem);
  countRow(report, "events", isNew);
}
