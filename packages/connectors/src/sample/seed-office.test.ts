/** The sample is the first thing that a newcomer sees: it has to be whole, believable and the same each time. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalOffice, openLocalOffice } from "../local/open-local-office.ts";
import { seedOffice } from "./seed-office.ts";

/** A Wednesday. */
const nowMs = Date.UTC(2026, 2, 4, 12);
let folder: string;
let office: LocalOffice;

const openIn = (name: string): LocalOffice =>
  openLocalOffice({
    folder: join(folder, name),
    user: { name: "Kim Berg", address: "kim@lantern.example" },
    timeZone: "Europe/Berlin",
    clock: { now: () => nowMs },
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-sample-"));
  office = openIn("office");
  seedOffice(office);
});
afterAll(async () => {
  office.close();
  await rm(folder, { recursive: true });
});

async function everything({ mail, calendar, contacts, channels }: LocalOffice) {
  const span = { from: "2026-03-02T00:00:00Z", to: "2026-03-16T00:00:00Z" };
  return {
    mail: (await mail.searchMessages({ limit: 100 })).items,
    events: (await calendar.listEvents({ ...span, limit: 100 })).items,
    contacts: (await contacts.searchContacts({ limit: 100 })).items,
    messages: (await channels.searchMessages({ limit: 100 })).items,
  };
}

describe("the sample office", () => {
  it("has mail in threads, sent and received, read and unread, with files", async () => {
    const { mail } = await everything(office);
    expect(mail.length).toBeGreaterThan(20);
    expect(new Set(mail.map(({ thread }) => thread)).size).toBe(12);
    expect(new Set(mail.map(({ folder: each }) => each))).toEqual(new Set(["inbox", "sent"]));
    expect(mail.some(({ isUnread }) => isUnread) && mail.some(({ attachmentCount }) => attachmentCount > 0)).toBe(true);
    expect(mail.filter(({ sentAt }) => Date.parse(sentAt) > nowMs)).toEqual([]);
  });

  it("has recurring meetings in this and the next week, in the zone of the user", async () => {
    const { events } = await everything(office);
    const standups = events.filter(({ title }) => title === "Standup").map(({ startsAt }) => startsAt.slice(5, 16));
    expect(standups).toHaveLength(10);
    expect(standups[0]).toBe("03-02T08:15");
    const tuesday = { from: "2026-03-10T09:00:00Z", to: "2026-03-10T10:00:00Z", people: ["tomas@lantern.example"] };
    expect((await office.calendar.checkAvailability(tuesday)).isFree).toBe(false);
  });

  it("has the people of Acme, and colleagues whose calendars are known", async () => {
    const acme = (await office.contacts.searchContacts({ organization: "Acme Corp" })).items;
    expect(acme.map(({ emails }) => emails[0])).toEqual([
      "devin@acme.example",
      "john@acme.example",
      "sarah@acme.example",
    ]);
    const { people } = await office.calendar.checkAvailability({
      from: "2026-03-07T09:00:00Z",
      to: "2026-03-07T10:00:00Z",
      people: ["mara@lantern.example", "john@acme.example"],
    });
    expect(people.map(({ isKnown }) => isKnown)).toEqual([true, false]);
  });

  it("has discussions of #project-alpha within the last week, with threads", async () => {
    const { items } = await office.channels.channelMessages({
      channel: "#project-alpha",
      since: "2026-02-25T12:00:00Z",
    });
    expect(items.length).toBeGreaterThanOrEqual(6);
    const [talk] = items.filter(({ replyCount }) => replyCount > 1);
    const thread = await office.channels.threadReplies({ channel: "project-alpha", message: talk?.id ?? "" });
    expect(thread.items.length).toBeGreaterThan(2);
    expect(thread.items.map(({ sentAt }) => sentAt).toSorted()).toEqual(thread.items.map(({ sentAt }) => sentAt));
  });

  it("is the same for the same seed and time, and another for another seed", async () => {
    const [again, other] = [openIn("again"), openIn("other")];
    seedOffice(again);
    seedOffice(again);
    seedOffice(other, { seed: 2 });
    const sample = await everything(office);
    expect(await everything(again)).toEqual(sample);
    const times = ({ mail }: typeof sample) => mail.map(({ sentAt }) => sentAt);
    expect(times(await everything(other))).not.toEqual(times(sample));
    again.close();
    other.close();
  });

  it("can receive mail of the user", async () => {
    const to = [{ name: "Mara", address: "mara@lantern.example" }];
    const sent = await office.mail.sendMail({ to, subject: "Hi", body: "x" }, { idempotencyKey: "k" });
    expect(sent.status).toBe("delivered");
  });
});
