import { z } from "zod";
import { putEvent } from "../local/calendar/event-store.ts";
import { addChannelMessage, putChannel, putMember } from "../local/channels/channel-store.ts";
import { putContact } from "../local/contacts/contact-store.ts";
import { putGroup } from "../local/contacts/groups.ts";
import { addMessage, ensureMailbox, shortHash } from "../local/mail/mail-store.ts";
import type { LocalOffice } from "../local/open-local-office.ts";
import { parseParams } from "../ports/connector-error.ts";
import { colleagues, outsiders, team } from "./people.ts";
import { peopleOf, personNamed, type Sample, spread } from "./sample.ts";
import { sampleEvents } from "./sample-events.ts";
import { conversations, threads } from "./texts.ts";

/** Options of `seedOffice`. */
export const SeedOptions = z.strictObject({
  /** Varies hours and minutes. The same seed and time give the same office. */
  seed: z.int().min(0).default(1),
  /** The present of the sample, in ms since 1970. Default: the office's clock. */
  nowMs: z.number().nullable().default(null),
});
export type SeedOptions = z.input<typeof SeedOptions>;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Fills a local office with a sample: colleagues, customers, mail, a calendar with recurring meetings, and channels. All dates
 * are relative to now. A second call with the same seed and time adds nothing.
 *
 * @example
 * seedOffice(office);
 * await office.contacts.searchContacts({ organization: "Acme Corp" });
 */
export function seedOffice(office: LocalOffice, options: SeedOptions = {}): void {
  const { seed, nowMs } = parseParams(SeedOptions, options);
  const { account } = office;
  const sample: Sample = { account, nowMs: nowMs ?? account.clock.now(), seed, people: peopleOf(account) };
  account.database.transaction(() => {
    seedContacts(sample);
    seedGroups(sample);
    seedMail(sample);
    seedEvents(sample);
    seedChannels(sample);
  });
}

/** A moment of a working day, so many days ago. */
function workingMoment({ nowMs, seed }: Sample, name: string, daysAgo: number): number {
  const day = new Date(nowMs - daysAgo * dayMs);
  // A message of a weekend moves to its Friday.
  const back = { 0: 2, 6: 1 }[day.getUTCDay()] ?? 0;
  const morning = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() - back, 8);
  return Math.min(morning + spread(seed, name, 8 * 60) * 60_000, nowMs - hourMs);
}

function seedContacts(sample: Sample): void {
  const { account } = sample;
  for (const { handle, title, organization } of [...colleagues, ...outsiders]) {
    const { name, address } = personNamed(sample, handle);
    if (organization === null) ensureMailbox(account.database, { name, address });
    const digits = String(1_000_000 + spread(1, handle, 9_000_000));
    putContact(account.database, {
      ...{ uid: `sample ${address}`, name, emails: [address], title, note: "" },
      phones: [`+49 30 ${digits}`],
      organization: organization ?? "Lantern Works",
    });
  }
}

/** Without the group, "the team" would be the whole company. */
function seedGroups(sample: Sample): void {
  const members = team.map((handle) => personNamed(sample, handle));
  putGroup(sample.account.database, "team", members);
}

function seedMail(sample: Sample): void {
  for (const { daysAgo, subject, messages, attachment } of threads) {
    const startMs = workingMoment(sample, subject, daysAgo);
    const messageIds = messages.map((_, i) => `<sample.${shortHash(`${subject} ${i} ${startMs}`)}@office.local>`);
    messages.forEach(({ from, to, body }, i) => {
      const sentMs = Math.min(
        startMs + i * (hourMs + spread(sample.seed, `${subject} ${i}`, 120) * 60_000),
        sample.nowMs - 60_000,
      );
      const bytes = Buffer.from(`A sample file: ${attachment}\n`);
      addMessage(sample.account.database, sample.account.mailbox, {
        folder: from === "me" ? "sent" : "inbox",
        messageId: messageIds[i] ?? "",
        references: messageIds.slice(0, i),
        from: personNamed(sample, from),
        to: to.map((handle) => personNamed(sample, handle)),
        ...{ cc: [], bcc: [], body, sentMs },
        subject: i === 0 ? subject : `Re: ${subject}`,
        isUnread: from !== "me" && daysAgo < 2,
        attachments:
          attachment && i === 0 ? [{ name: attachment, contentType: "application/octet-stream", content: bytes }] : [],
      });
    });
  }
}

function seedEvents(sample: Sample): void {
  const { account, nowMs } = sample;
  for (const event of sampleEvents(sample)) {
    const id = `evt_${shortHash(`sample ${event.title} ${JSON.stringify(event.start)}`)}`;
    if (account.database.get("SELECT 1 FROM events WHERE id = ?", id)) continue;
    putEvent(
      { database: account.database, timeZone: account.timeZone, nowMs },
      { ...event, id, uid: `${id}@office.local`, exceptionOf: null, isCancelled: false },
    );
  }
}

function seedChannels(sample: Sample): void {
  const { account, seed, nowMs } = sample;
  const { database } = account;
  const noTitle = { email: account.person.address, title: null, timeZone: account.timeZone };
  putMember(database, { id: "me", handle: "me", name: account.person.name, ...noTitle, isBot: false });
  for (const { handle, title, timeZone } of colleagues) {
    const { name, address } = personNamed(sample, handle);
    putMember(database, { id: handle, handle, name, email: address, title, timeZone, isBot: false });
  }
  for (const { channel, daysAgo, messages } of conversations) {
    putChannel(database, { id: channel, name: channel });
    const first = messages[0]?.text ?? "";
    const startMs = workingMoment(sample, first, daysAgo);
    const thread = `${Math.floor(startMs / 1_000)}.${shortHash(first).replace(/\D/g, "").padEnd(6, "0").slice(0, 6)}`;
    messages.forEach(({ from, text }, i) => {
      const sentMs = Math.min(startMs + i * (4 + spread(seed, `${first} ${i}`, 20)) * 60_000, nowMs - 60_000);
      addChannelMessage(database, {
        ...{ channel, author: from, text, sentMs, thread: i === 0 ? null : thread },
        id: i === 0 ? thread : `${thread}.${i}`,
        reactions: i === 0 && messages.length > 2 ? [{ name: "thumbsup", count: 1 + spread(seed, first, 5) }] : [],
      });
    });
  }
}
