import type { EventRecord } from "../local/calendar/event-store.ts";
import { dayOf } from "../time/zoned-instant.ts";
import { colleagues, team } from "./people.ts";
import { personNamed, type Sample } from "./sample.ts";

type SampleEvent = Omit<EventRecord, "id" | "uid" | "exceptionOf" | "isCancelled">;

interface Meeting {
  title: string;
  /** Days from Monday of this week. */
  day: number;
  /** Wall clock times, such as `09:15`. */
  from: string;
  to: string;
  people: readonly string[];
  organizer?: string;
  recurrence?: string;
  location?: string;
}

const dayMs = 86_400_000;
/** Series began some weeks ago. */
const before = -8 * 7;

const meetings: readonly Meeting[] = [
  {
    title: "Standup",
    day: before,
    from: "09:15",
    to: "09:30",
    people: team,
    recurrence: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
  },
  {
    title: "Team meeting",
    day: before + 1,
    from: "10:00",
    to: "11:00",
    people: team,
    organizer: "mara",
    recurrence: "FREQ=WEEKLY;BYDAY=TU",
    location: "Room Elbe",
  },
  {
    title: "1:1 with Mara",
    day: before + 2,
    from: "14:00",
    to: "14:30",
    people: ["mara"],
    recurrence: "FREQ=WEEKLY;INTERVAL=2;BYDAY=WE",
  },
  {
    title: "Design review",
    day: before + 3,
    from: "15:00",
    to: "16:00",
    people: ["priya", "mara", "jonas"],
    organizer: "priya",
    recurrence: "FREQ=WEEKLY;BYDAY=TH",
  },
  {
    title: "All hands",
    day: before + 3,
    from: "16:30",
    to: "17:15",
    people: colleagues.map(({ handle }) => handle),
    organizer: "greta",
    recurrence: "FREQ=MONTHLY;BYDAY=1TH",
  },
  {
    title: "Acme: contract call",
    day: 2,
    from: "16:00",
    to: "16:45",
    people: ["ruth", "john", "sarah"],
    organizer: "ruth",
  },
  { title: "Load test", day: 3, from: "08:30", to: "09:30", people: ["tomas"], organizer: "tomas" },
  { title: "Team lunch", day: 3, from: "12:30", to: "13:30", people: team, organizer: "greta", location: "Kitchen" },
  { title: "Project Alpha: beta", day: 4, from: "11:00", to: "12:00", people: team, organizer: "mara" },
  {
    title: "Globex: partner webinar",
    day: 9,
    from: "17:00",
    to: "18:00",
    people: ["leon", "nadia"],
    organizer: "leon",
  },
  { title: "Dentist", day: 8, from: "08:00", to: "08:45", people: [] },
];

/** The events of the sample: recurring meetings, some of this and the next week, and a trip of whole days. */
export function sampleEvents(sample: Sample): SampleEvent[] {
  return [...meetings.map((meeting) => toEvent(sample, meeting)), tripOf(sample)];
}

/** The date of a day, counted from Monday of this week in the zone of the calendar. */
function dateOf({ nowMs, account }: Sample, day: number): string {
  const today = Date.parse(`${dayOf(nowMs, account.timeZone)}T00:00:00Z`);
  const monday = today - ((new Date(today).getUTCDay() + 6) % 7) * dayMs;
  return new Date(monday + day * dayMs).toISOString().slice(0, 10);
}

function toEvent(sample: Sample, meeting: Meeting): SampleEvent {
  const { title, day, from, to, people, organizer = "me", recurrence = null, location = "" } = meeting;
  const time = (clock: string) => ({
    dateTime: `${dateOf(sample, day)}T${clock}:00`,
    timeZone: sample.account.timeZone,
  });
  const invited = [...new Set([...people, "me"])].filter((handle) => handle !== organizer);
  return {
    ...{ title, location, recurrence, description: "", visibility: "default", showAs: "busy" },
    organizer: personNamed(sample, organizer),
    attendees: invited.map((handle) => ({ ...personNamed(sample, handle), response: "accepted" })),
    ...{ start: time(from), end: time(to) },
  };
}

function tripOf(sample: Sample): SampleEvent {
  return {
    ...{ title: "Trip to London", location: "London", recurrence: null, description: "", attendees: [] },
    ...{ visibility: "default", showAs: "busy", organizer: personNamed(sample, "me") },
    ...{ start: { date: dateOf(sample, 21) }, end: { date: dateOf(sample, 24) } },
  };
}
