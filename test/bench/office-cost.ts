/**
 * The local office: search in many messages, and free time among many events with recurrence, beside the bare SQL that
 * each needs at least.
 *
 * node test/bench/office-cost.ts [messages] [events]
 */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalOffice, openLocalOffice, type Person } from "@troupe/connectors";
import { addMessage } from "@troupe/connectors/internal";
import { openSqlite } from "@troupe/recorder/internal";
import { seededRandom } from "../harness/seeded-random.ts";

const messageCount = Number(process.argv[2] ?? 100_000);
const eventCount = Number(process.argv[3] ?? 10_000);
const rounds = 50;
const nowMs = Date.UTC(2026, 2, 2, 12);
const hourMs = 3_600_000;
const random = seededRandom(7);
const vocabulary = "budget plan review invoice team launch customer order report meeting draft contract travel".split(
  " ",
);
const people: Person[] = Array.from({ length: 20 }, (_, i) => ({ name: `Person ${i}`, address: `p${i}@acme.example` }));
const [user] = people;

await using made = await mkdtempDisposable(join(tmpdir(), "troupe-bench-office-"));
const office = openLocalOffice({
  folder: made.path,
  ...(user ? { user } : {}),
  timeZone: "Europe/Berlin",
  clock: { now: () => nowMs },
});
fillMailbox(office);
await fillCalendar(office);

const bare = openSqlite(join(made.path, "office.db"), { readOnly: true });
const words = bare.prepareValue<[string], number>(
  "SELECT rowid FROM message_words WHERE message_words MATCH ? ORDER BY rowid DESC LIMIT 26",
);
const spans = bare.prepare<[number, number]>(
  "SELECT start_ms, end_ms FROM occurrences WHERE is_long = 0 AND start_ms >= ? AND start_ms < ?",
);
const weekMs = 7 * 24 * hourMs;
const week = { from: new Date(nowMs).toISOString(), to: new Date(nowMs + weekMs).toISOString() };
const addresses = people.slice(0, 5).map(({ address }) => address);

const search = {
  frequentMs: await medianMs(() => office.mail.searchMessages({ text: "budget" })),
  severalMs: await medianMs(() => office.mail.searchMessages({ text: "budget review invoice", from: "person 7" })),
  rareMs: await medianMs(() => office.mail.searchMessages({ text: "needle" })),
  floorMs: await medianMs(() => words.all("budget")),
};
const freeBusy = {
  ownMs: await medianMs(() => office.calendar.checkAvailability(week)),
  fiveMs: await medianMs(() => office.calendar.checkAvailability({ ...week, people: addresses, slotMinutes: 30 })),
  floorMs: await medianMs(() => spans.all(nowMs - weekMs, nowMs + weekMs)),
};
bare.close();
office.close();
console.log(JSON.stringify({ search, freeBusy }));

function fillMailbox({ account: { database, mailbox } }: LocalOffice): void {
  database.transaction(() => {
    for (let i = 0; i < messageCount; i += 1) {
      const text = Array.from({ length: 60 }, () => pick(vocabulary)).join(" ");
      addMessage(database, mailbox, {
        ...{ folder: "inbox", isUnread: false, references: [], attachments: [], cc: [], bcc: [] },
        messageId: `<${i}@acme.example>`,
        from: pick(people),
        to: people.slice(0, 1),
        subject: `${pick(vocabulary)} ${pick(vocabulary)} ${i}`,
        body: i % 10_000 === 77 ? `${text} needle` : text,
        sentMs: nowMs - i * 600_000,
      });
    }
  });
}

/** One event in ten recurs. */
async function fillCalendar({ calendar, account: { database } }: LocalOffice): Promise<void> {
  const created: Promise<unknown>[] = [];
  database.transaction(() => {
    for (let i = 0; i < eventCount; i += 1) {
      const startMs = nowMs + Math.floor((random() - 0.7) * 365 * 24) * hourMs;
      const time = (atMs: number) => ({ dateTime: new Date(atMs).toISOString().slice(0, 19), timeZone: "Etc/UTC" });
      const event = {
        title: `${pick(vocabulary)} ${i}`,
        start: time(startMs),
        end: time(startMs + hourMs / 2),
        attendees: [pick(people), pick(people)].filter((person, at, all) => all.indexOf(person) === at),
        recurrence: i % 10 === 0 ? pick(["FREQ=WEEKLY", "FREQ=DAILY;COUNT=60", "FREQ=MONTHLY;BYDAY=2TU"]) : null,
      };
      created.push(calendar.createEvent(event, { idempotencyKey: `event ${i}` }));
    }
  });
  await Promise.all(created);
}

function pick<Item>(items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

async function medianMs(act: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now();
    await act();
    times.push(performance.now() - startedMs);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
}
