import ICAL from "ical.js";
import { Temporal } from "temporal-polyfill";

const weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const noTransition = "1970-01-01T00:00:00";

/**
 * The rules of a zone in a form that every program understands, for events from a year on. Most programs know the zone by its name;
 * the rules are for the others.
 */
export function zoneRules(timeZone: string, year: number): ICAL.Component {
  const zone = new ICAL.Component("vtimezone");
  zone.addPropertyWithValue("tzid", timeZone);
  const begin = Temporal.PlainDate.from({ year: year - 1, month: 1, day: 1 }).toZonedDateTime({ timeZone });
  const transitions: Temporal.ZonedDateTime[] = [];
  let next = begin.getTimeZoneTransition("next");
  while (next && next.year <= year && transitions.length < 8) {
    transitions.push(next);
    next = next.getTimeZoneTransition("next");
  }
  if (transitions.length === 0) zone.addSubcomponent(observance("standard", noTransition, begin.offset, begin.offset));
  for (const at of transitions.slice(-2)) {
    const before = at.subtract({ nanoseconds: 1 });
    const name = at.offsetNanoseconds > before.offsetNanoseconds ? "daylight" : "standard";
    const wall = before.toPlainDateTime().add({ nanoseconds: 1 });
    const part = observance(name, wall.toString({ smallestUnit: "second" }), before.offset, at.offset);
    part.addPropertyWithValue("rrule", ICAL.Recur.fromString(yearlyRule(wall)));
    zone.addSubcomponent(part);
  }
  return zone;
}

function observance(name: string, start: string, from: string, to: string): ICAL.Component {
  const part = new ICAL.Component(name);
  part.addPropertyWithValue("dtstart", ICAL.Time.fromDateTimeString(start));
  part.addPropertyWithValue("tzoffsetfrom", ICAL.UtcOffset.fromString(from));
  part.addPropertyWithValue("tzoffsetto", ICAL.UtcOffset.fromString(to));
  return part;
}

/** The last or nth weekday of the month. */
function yearlyRule({ month, day, dayOfWeek, daysInMonth }: Temporal.PlainDateTime): string {
  const number = day + 7 > daysInMonth ? -1 : Math.ceil(day / 7);
  return `FREQ=YEARLY;BYMONTH=${month};BYDAY=${number}${weekdays[dayOfWeek - 1]}`;
}
