/**
 * Calendars by CalDAV and contacts by CardDAV. The long run proves them at Radicale, a real server of a Debian package. The normal
 * run needs no server.
 */
import { randomUUID } from "node:crypto";
import { mkdtempDisposable } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStandardCalendar, createStandardContacts, type Person, type StandardAccount } from "@troupe/connectors";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDavClient } from "../../packages/connectors/src/standard/dav/dav-client.ts";
import { StandardAccount as AccountSchema } from "../../packages/connectors/src/standard/standard-options.ts";
import { isLong } from "../harness/long.ts";
import { davPassword, type Radicale, startRadicale } from "../harness/office-servers/radicale.ts";
import { calendarConformance } from "./calendar-connector.ts";
import { contactsConformance, sampleContacts } from "./contacts-connector.ts";

const me: Person = { name: "Me", address: "me@lan.example" };
const march = { from: "2026-03-01T00:00:00Z", to: "2026-04-01T00:00:00Z" };
const keyed = { idempotencyKey: "k1" };

describe("a fault of a server of CalDAV", () => {
  test.for([
    { status: 401, headers: {}, body: "", expected: { type: "auth" } },
    { status: 403, headers: {}, body: "", expected: { type: "permission" } },
    { status: 429, headers: { "retry-after": "20" }, body: "", expected: { type: "rate_limit", retryAfterS: 20 } },
    { status: 500, headers: {}, body: "", expected: { type: "network" } },
    { status: 404, headers: {}, body: "", expected: { type: "tool_error" } },
    { status: 200, headers: { "content-type": "text/html" }, body: "<html>", expected: { type: "tool_error" } },
    { status: 207, headers: { "content-type": "text/xml" }, body: "<multistatus", expected: { type: "tool_error" } },
  ])("$status $body is $expected", async ({ status, headers, body, expected }) => {
    const server = createServer((_, response) => response.writeHead(status, headers).end(body)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const caldav = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const calendar = createStandardCalendar({ user: me, password: "secret-1", caldav });
    await expect(calendar.listEvents(march)).rejects.toMatchObject(expected);
    server.closeAllConnections();
    server.close();
  });

  test("that never answers is a network error after the time limit", async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const carddav = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const contacts = createStandardContacts({ user: me, password: "secret-1", carddav, timeoutMs: 200 });
    await expect(contacts.searchContacts({})).rejects.toMatchObject({ type: "network" });
    server.closeAllConnections();
    server.close();
  });

  test("that cannot be reached is a network error", async () => {
    const calendar = createStandardCalendar({ user: me, password: "secret-1", caldav: "http://127.0.0.1:1/" });
    await expect(calendar.status()).rejects.toMatchObject({ type: "network" });
  });

  test("that was not given is a permission error", () => {
    const options: StandardAccount = { user: me, password: "p" };
    expect(() => createStandardCalendar(options)).toThrowError(expect.objectContaining({ type: "permission" }));
    expect(() => createStandardContacts(options)).toThrowError(expect.objectContaining({ type: "permission" }));
  });
});

function atRealServer(): void {
  let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
  let radicale: Radicale;

  beforeAll(async () => {
    folder = await mkdtempDisposable(join(tmpdir(), "troupe-dav-"));
    radicale = await startRadicale(folder.path);
  });

  afterAll(async () => {
    await radicale?.stop();
    await folder?.remove();
  });

  async function newUser(name: string) {
    const id = randomUUID().slice(0, 8);
    const person: Person = { name, address: `${name.toLowerCase()}-${id}@acme.example` };
    const urls = await radicale.addUser(`${name.toLowerCase()}-${id}`);
    const account: StandardAccount = {
      ...{ user: person, username: `${name.toLowerCase()}-${id}`, password: davPassword },
      ...{ caldav: radicale.url, carddav: radicale.url, timeZone: "Europe/Berlin" },
      clock: { now: () => Date.UTC(2026, 2, 2, 12) },
    };
    return { ...urls, person, account, username: account.username ?? "" };
  }

  describe("a calendar", () => {
    calendarConformance(
      async () => {
        const [user, dee] = [await newUser("Me"), await newUser("Dee")];
        const colleagues = [{ address: dee.person.address, calendarUrl: dee.calendarUrl }];
        return {
          calendar: createStandardCalendar({ ...user.account, colleagues }),
          user: user.person,
          colleague: { person: dee.person, calendar: createStandardCalendar(dee.account) },
          [Symbol.asyncDispose]: async () => {},
        };
      },
      // Radicale sends no invitations.
      { deliversEvents: false },
    );

    const at = (dateTime: string) => ({ dateTime: `${dateTime}:00`, timeZone: "Europe/Berlin" });
    const weekly = {
      ...{ title: "Review, part 1; \\ <b>", start: at("2026-03-03T14:00"), end: at("2026-03-03T15:00") },
      ...{ description: "Line 1\nLine 2", recurrence: "FREQ=WEEKLY;BYDAY=TU" },
      attendees: [{ name: 'Eve "the boss"; Stone', address: "eve@client.example" }],
    };

    test("is the same for a second program, with changed and deleted occurrences", async () => {
      const { account } = await newUser("Me");
      const calendar = createStandardCalendar(account);
      await calendar.createEvent(weekly, keyed);
      const [first, second] = (await calendar.listEvents(march)).items;
      await calendar.updateEvent(first?.id ?? "", { title: "Kick-off", start: at("2026-03-03T16:00") });
      await calendar.deleteEvent(second?.id ?? "");
      const other = createStandardCalendar(account);
      const { items } = await other.listEvents(march);
      expect(items).toEqual((await calendar.listEvents(march)).items);
      expect(items.map(({ title, startsAt }) => `${title} ${startsAt.slice(5, 16)}`)).toEqual([
        "Kick-off 03-03T15:00",
        "Review, part 1; \\ <b> 03-17T13:00",
        "Review, part 1; \\ <b> 03-24T13:00",
        "Review, part 1; \\ <b> 03-31T12:00",
      ]);
      expect(items[1]).toMatchObject({
        description: "Line 1\nLine 2",
        attendees: [{ name: "Eve 'the boss'; Stone", address: "eve@client.example", response: "none" }],
      });
      // The other program deletes the series for both.
      await other.deleteEvent(items[1]?.series ?? "");
      expect((await calendar.listEvents(march)).items).toEqual([]);
    });

    test("keeps properties of other programs, and names the rules of its zone", async () => {
      const { account, username, calendarUrl } = await newUser("Me");
      const text = [
        ...["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//other//EN", "BEGIN:VEVENT", "UID:other-1"],
        ...["DTSTAMP:20260301T000000Z", "DTSTART:20260304T090000Z", "DURATION:PT1H", "SUMMARY:Dentist"],
        ...["X-OTHER-COLOUR:blue", "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Go", "TRIGGER:-PT15M", "END:VALARM"],
        ...["END:VEVENT", "END:VCALENDAR", ""],
      ].join("\r\n");
      const put = { method: "PUT", headers: { "content-type": "text/calendar" } };
      await radicale.request(username, `/${username}/events/other.ics`, { ...put, body: text });
      const calendar = createStandardCalendar(account);
      const [dentist] = (await calendar.listEvents(march)).items;
      expect(dentist).toMatchObject({ title: "Dentist", endsAt: "2026-03-04T10:00:00.000Z" });
      await calendar.updateEvent(dentist?.id ?? "", { start: at("2026-03-05T10:00") });
      const stored = await (await radicale.request(username, `${calendarUrl}other.ics`, { method: "GET" })).text();
      for (const line of ["X-OTHER-COLOUR:blue", "BEGIN:VALARM", "SUMMARY:Dentist", "SEQUENCE:1"]) {
        expect(stored).toContain(line);
      }
      expect(stored).toMatch(/DTSTART;TZID=Europe\/Berlin:20260305T100000/);
      expect(stored).toMatch(/BEGIN:DAYLIGHT[\s\S]*BYDAY=-1SU/);
    });

    test("that another program changes at the same time is not overwritten", async () => {
      const { account, username } = await newUser("Me");
      const calendar = createStandardCalendar(account);
      const created = await calendar.createEvent({ ...weekly, recurrence: null }, keyed);
      const other = createStandardCalendar(account);
      const results = await Promise.allSettled([
        calendar.updateEvent(created.id, { title: "Mine" }),
        other.updateEvent(created.id, { title: "Theirs" }),
      ]);
      const failed = results.filter(({ status }) => status === "rejected");
      for (const result of failed) expect(result).toMatchObject({ reason: { type: "network" } });
      expect(failed.length).toBeLessThan(2);
      expect((await calendar.getEvent(created.id)).title).toBe((await other.getEvent(created.id)).title);
      expect(username).not.toBe("");
    });

    test("that two programs create with one key and different content exists once", async () => {
      const { account } = await newUser("Me");
      const titles = ["Mine", "Theirs"];
      const results = await Promise.allSettled(
        titles.map((title) =>
          createStandardCalendar(account).createEvent({ ...weekly, title, recurrence: null }, keyed),
        ),
      );
      const [created, ...others] = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect([others, refused]).toMatchObject([[], [{ type: "params", param: "idempotencyKey" }]]);
      expect((await createStandardCalendar(account).listEvents(march)).items).toEqual([created]);
    });

    test("is written only to a free name, and only over the version that was read", async () => {
      const { account, calendarUrl } = await newUser("Me");
      const client = createDavClient(AccountSchema.parse(account), "caldav");
      const text = (title: string) =>
        `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:one\r\nDTSTAMP:20260301T000000Z\r\n` +
        `DTSTART:20260304T090000Z\r\nSUMMARY:${title}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
      const url = `${calendarUrl}one.ics`;
      expect(await client.put({ url, data: text("first"), etag: null })).toBe(true);
      expect(await client.put({ url, data: text("second"), etag: null })).toBe(false);
      expect(await client.put({ url, data: text("third"), etag: '"another"' })).toBe(false);
      expect(await client.remove({ url, etag: '"another"' })).toBe(false);
      const [object] = await client.objects(await client.collection(calendarUrl), [url]);
      expect(object?.data).toContain("SUMMARY:first");
      expect(await client.put({ url, data: text("fourth"), etag: object?.etag ?? "" })).toBe(true);
    });

    test("with an invitation of another person can refuse it, and cannot change it", async () => {
      const [organizer, dee] = [await newUser("Me"), await newUser("Dee")];
      const created = await createStandardCalendar(organizer.account).createEvent(
        { ...weekly, attendees: [dee.person] },
        keyed,
      );
      // The server of the organizer does not deliver it; another program puts it into the calendar of the attendee.
      const listed = await (
        await radicale.request(organizer.username, `/${organizer.username}/events/`, { method: "GET" })
      ).text();
      const put = { method: "PUT", headers: { "content-type": "text/calendar" }, body: listed };
      await radicale.request(dee.username, `/${dee.username}/events/invitation.ics`, put);
      const calendar = createStandardCalendar(dee.account);
      expect((await calendar.getEvent(created.id)).organizer).toEqual(organizer.person);
      await expect(calendar.updateEvent(created.id, { title: "Mine" })).rejects.toMatchObject({ type: "permission" });
      expect(await calendar.deleteEvent(created.id)).toBe(true);
      expect((await calendar.listEvents(march)).items).toEqual([]);
      expect(await calendar.deleteEvent(created.id)).toBe(false);
      const stored = await (
        await radicale.request(dee.username, `/${dee.username}/events/invitation.ics`, { method: "GET" })
      ).text();
      expect(stored.replace(/\r\n /g, "")).toContain("PARTSTAT=DECLINED");
    });

    test("without a readable event shows its other events", async () => {
      const { account, username } = await newUser("Me");
      const calendar = createStandardCalendar(account);
      await calendar.createEvent(weekly, keyed);
      const text =
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:bad\r\nDTSTAMP:20260301T000000Z\r\n" +
        "DTSTART:20260304T090000Z\r\nDTEND:20260303T090000Z\r\nSUMMARY:Backwards\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
      const put = { method: "PUT", headers: { "content-type": "text/calendar" }, body: text };
      await radicale.request(username, `/${username}/events/bad.ics`, put);
      expect((await calendar.listEvents(march)).items).toHaveLength(5);
    });

    test("by a name that the account does not have is refused with the names that it has", async () => {
      const { account } = await newUser("Me");
      const calendar = createStandardCalendar({ ...account, calendar: "holidays" });
      await expect(calendar.createEvent(weekly, keyed)).rejects.toMatchObject({ type: "params", param: "calendar" });
    });

    test("with a wrong password has no access, and its status says so", async () => {
      const { account } = await newUser("Me");
      const calendar = createStandardCalendar({ ...account, password: "wrong-password" });
      await expect(calendar.listEvents(march)).rejects.toMatchObject({ type: "auth" });
      expect(await calendar.status()).toMatchObject({ auth: "revoked", canWrite: false });
      expect(await createStandardCalendar(account).status()).toMatchObject({ auth: "valid", canWrite: true });
    });
  });

  describe("an address book", () => {
    async function putCard(
      username: string,
      { name, emails, phones, organization, title }: (typeof sampleContacts)[number],
    ) {
      const uid = randomUUID();
      const lines = [
        ...["BEGIN:VCARD", "VERSION:3.0", `UID:${uid}`, `FN:${name}`, `N:${name};;;;`],
        ...emails.map((email) => `EMAIL:${email}`),
        ...phones.map((phone) => `TEL:${phone}`),
        ...(organization ? [`ORG:${organization}`] : []),
        ...(title ? [`TITLE:${title}`] : []),
        ...["END:VCARD", ""],
      ];
      const put = { method: "PUT", headers: { "content-type": "text/vcard" }, body: lines.join("\r\n") };
      await radicale.request(username, `/${username}/people/${uid}.vcf`, put);
      return `/${username}/people/${uid}.vcf`;
    }

    contactsConformance(async () => {
      const { account, username } = await newUser("Me");
      for (const contact of sampleContacts) await putCard(username, contact);
      return { contacts: createStandardContacts(account), [Symbol.asyncDispose]: async () => {} };
    });

    test("shows contacts that another program adds, changes and deletes", async () => {
      const { account, username } = await newUser("Me");
      const contacts = createStandardContacts(account);
      const names = async () => (await contacts.searchContacts({})).items.map(({ name }) => name);
      expect(await names()).toEqual([]);
      const [ana, bela] = sampleContacts;
      if (!ana || !bela) throw new Error("no sample");
      const path = await putCard(username, ana);
      await putCard(username, bela);
      expect(await names()).toEqual(["Ana Ruiz", "Béla Kovács"]);
      const put = { method: "PUT", headers: { "content-type": "text/vcard" } };
      const uid = path.replace(/^.*\/|\.vcf$/g, "");
      const renamed = `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:Ana Stone\r\nN:Stone;Ana;;;\r\nEND:VCARD\r\n`;
      await radicale.request(username, path, { ...put, body: renamed });
      expect(await names()).toEqual(["Ana Stone", "Béla Kovács"]);
      await radicale.request(username, path, { method: "DELETE" });
      expect(await names()).toEqual(["Béla Kovács"]);
      expect(await contacts.status()).toMatchObject({ auth: "valid", canWrite: false });
    });
  });
}

if (isLong) describe("a real server", atRealServer);
