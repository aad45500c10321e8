/** Files of other programs, sound and hostile, become rows of a local office. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strToU8, type Zippable, zipSync } from "fflate";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { type LocalOffice, openLocalOffice } from "../local/open-local-office.ts";
import { importFiles } from "./import-files.ts";
import type { ImportedFile } from "./import-report.ts";

let folder: string;
let office: LocalOffice;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-import-"));
  office = openLocalOffice({
    folder: join(folder, "office"),
    user: { name: "Me", address: "me@acme.example" },
    timeZone: "Europe/Berlin",
    clock: { now: () => Date.UTC(2026, 2, 2, 12) },
  });
});
afterEach(async () => {
  office.close();
  await rm(folder, { recursive: true });
});

async function importText(name: string, text: string | Uint8Array): Promise<ImportedFile> {
  const file = join(folder, name);
  await writeFile(file, text);
  const [report] = await importFiles(office, [file]);
  if (!report) throw new Error("no report");
  return report;
}

const reasons = ({ problems }: ImportedFile) => problems.map(({ where, reason }) => `${where}: ${reason}`);
const lines = (...all: string[]) => all.join("\r\n");
const mails = async () => (await office.mail.searchMessages({ limit: 100 })).items;
async function onlyMail() {
  const [found, ...others] = await mails();
  expect(others).toEqual([]);
  return office.mail.getMessage(found?.id ?? "");
}
const march = { from: "2026-03-01T00:00:00Z", to: "2026-04-01T00:00:00Z" };

const head = (id: string, subject: string) => [
  `Message-ID: <${id}@acme.example>`,
  "From: Ana Ruiz <ANA@acme.example>",
  "To: me@acme.example",
  `Subject: ${subject}`,
  "Date: Mon, 2 Mar 2026 09:00:00 +0100",
];

describe("a mail", () => {
  it("with encoded words, parts and an attachment", async () => {
    const report = await importText(
      "a.eml",
      lines(
        ...head("1", "=?utf-8?q?Gr=C3=BC=C3=9Fe?="),
        'Content-Type: multipart/mixed; boundary="b"',
        "",
        "--b",
        "Content-Type: text/plain; charset=iso-8859-1",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "caf=E9",
        "--b",
        'Content-Disposition: attachment; filename="=?utf-8?q?r=C3=A9sum=C3=A9.pdf?="',
        "Content-Type: application/pdf",
        "Content-Transfer-Encoding: base64",
        "",
        "JVBERg==",
        "--b--",
      ),
    );
    expect(report).toMatchObject({ kind: "eml", added: { messages: 1 }, problemCount: 0 });
    expect(await onlyMail()).toMatchObject({
      subject: "Grüße",
      from: { name: "Ana Ruiz", address: "ana@acme.example" },
      body: expect.stringContaining("café"),
      sentAt: "2026-03-02T08:00:00.000Z",
      folder: "inbox",
      attachments: [{ name: "résumé.pdf", contentType: "application/pdf", sizeBytes: 4 }],
    });
  });

  it("that is imported again adds nothing", async () => {
    const text = lines(...head("1", "Hi"), "", "text");
    await importText("a.eml", text);
    expect(await importText("b.eml", text)).toMatchObject({ added: { messages: 0 }, known: { messages: 1 } });
    expect(await mails()).toHaveLength(1);
  });

  it("of the user is in the folder of sent mail", async () => {
    await importText("a.eml", lines("From: me@acme.example", "To: ana@acme.example", "Subject: Hi", "", "text"));
    expect(await onlyMail()).toMatchObject({ folder: "sent" });
  });

  it("with HTML alone becomes text, without scripts and images, and with the targets of links", async () => {
    const html =
      '<style>p{}</style><script>alert(1)</script><p>Pay <a href="https://evil.example">here</a></p><img src="http://t.example/x">';
    await importText("a.eml", lines(...head("1", "Hi"), "Content-Type: text/html", "", html));
    const { body } = await onlyMail();
    expect(body).toContain("Pay here [https://evil.example]");
    expect(body).not.toMatch(/alert|t\.example|<|p\{/);
  });

  it("with line breaks in encoded headers keeps each header on one line", async () => {
    const subject = "=?utf-8?q?Hi=0D=0ABcc:_eve@evil.example?=";
    await importText(
      "a.eml",
      lines(
        ...head("1", subject).slice(0, 1),
        `From: =?utf-8?q?A=0D=0AB?= <a@b.example>`,
        `Subject: ${subject}`,
        "",
        "x",
      ),
    );
    const mail = await onlyMail();
    expect(mail.subject).toBe("Hi Bcc: eve@evil.example");
    expect(mail.from.name).toBe("A B");
    expect(mail.bcc).toEqual([]);
  });

  it("with a body of 2 MB is stored in part, and the report says so", async () => {
    const report = await importText("a.eml", lines(...head("1", "Big"), "", "word ".repeat(400_000)));
    expect(reasons(report)).toEqual([expect.stringContaining("first 1000000 are stored")]);
    const mail = await onlyMail();
    expect([mail.body.length, mail.isTruncated]).toEqual([1_000_000, true]);
  });

  it("with HTML of megabytes and nested tags is imported", async () => {
    const html = `${"<div>".repeat(5_000)}deep${"<p>x</p>".repeat(inject("long") ? 1_200_000 : 200_000)}`;
    const report = await importText("a.eml", lines(...head("1", "Deep"), "Content-Type: text/html", "", html));
    expect(report.added.messages).toBe(1);
  });

  it.each([
    { what: "no date", text: lines("From: a@b.example", "Subject: x", "", "y"), reason: "no readable date" },
    { what: "no header", text: "just some text", reason: "no header" },
    { what: "nothing", text: "", reason: "no header" },
  ])("with $what: $reason", async ({ text, reason }) => {
    expect(reasons(await importText("a.eml", text))).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    { what: "a part without an end", body: ['Content-Type: multipart/mixed; boundary="b"', "", "--b", "", "text"] },
    { what: "a boundary that never comes", body: ['Content-Type: multipart/mixed; boundary="b"', "", "text"] },
    { what: "broken base64", body: ["Content-Transfer-Encoding: base64", "", "%%%%"] },
    { what: "an unknown charset", body: ["Content-Type: text/plain; charset=klingon", "", "text"] },
    { what: "a NUL", body: ["", "a\0b"] },
    { what: "no people", body: ["To: undisclosed-recipients:;", "", "text"] },
  ])("with $what is stored as far as it can be read", async ({ body }) => {
    expect((await importText("a.eml", lines(...head("1", "Hi"), ...body))).added.messages).toBe(1);
    expect((await onlyMail()).body).not.toContain("\0");
  });

  it("that is nested without an end is a problem", async () => {
    const deep = Array.from(
      { length: 300 },
      (_, i) => `Content-Type: multipart/mixed; boundary="b${i}"\r\n\r\n--b${i}\r\n`,
    ).join("");
    const report = await importText("a.eml", `Subject: x\r\n${deep}`);
    expect(report.added.messages).toBe(0);
    expect(report.problemCount).toBe(1);
  });
});

describe("an mbox", () => {
  const mbox = (count: number) =>
    Array.from(
      { length: count },
      (_, i) =>
        `From x Mon Mar  2 09:00:00 2026\n${head(`${i}`, `Note ${i}`).join("\n")}\n\n>From here on\nFrom now\n\n`,
    ).join("");

  it("has each message, and lines that begin with From", async () => {
    expect(await importText("a.mbox", mbox(450))).toMatchObject({ added: { messages: 450 }, problemCount: 0 });
    const found = (await office.mail.searchMessages({ subject: "449" })).items[0];
    expect((await office.mail.getMessage(found?.id ?? "")).body.trim()).toBe("From here on\nFrom now");
  });

  it("with a broken message has the others", async () => {
    const report = await importText(
      "a.mbox",
      `${mbox(1)}From y\n\nno header\n\nFrom z\n${head("9", "Last").join("\n")}\n\nx\n`,
    );
    expect((await mails()).map(({ subject }) => subject).toSorted()).toEqual(["Last", "Note 0"]);
    expect(reasons(report)).toEqual([expect.stringContaining("message 2: has no header")]);
  });

  it("without a message is a problem", async () => {
    expect(reasons(await importText("a.mbox", "hello"))).toEqual([expect.stringContaining("no message")]);
  });
});

describe("a calendar", () => {
  const calendar = (...events: string[][]) =>
    lines(
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      ...events.flatMap((event) => ["BEGIN:VEVENT", ...event, "END:VEVENT"]),
      "END:VCALENDAR",
    );
  const event = (uid: string, ...more: string[]) => [`UID:${uid}`, `SUMMARY:Event ${uid}`, ...more];
  const listed = async () =>
    (await office.calendar.listEvents(march)).items.map(
      ({ title, startsAt, endsAt }) => `${title} ${startsAt.slice(5, 16)} ${endsAt.slice(5, 16)}`,
    );

  it.each([
    { what: "UTC", more: ["DTSTART:20260303T130000Z", "DTEND:20260303T140000Z"], is: "03-03T13:00 03-03T14:00" },
    {
      what: "a zone",
      more: ["DTSTART;TZID=America/New_York:20260303T080000", "DURATION:PT1H"],
      is: "03-03T13:00 03-03T14:00",
    },
    { what: "no zone", more: ["DTSTART:20260303T140000", "DTEND:20260303T150000"], is: "03-03T13:00 03-03T14:00" },
    { what: "no end", more: ["DTSTART:20260303T130000Z"], is: "03-03T13:00 03-03T13:30" },
    { what: "a day", more: ["DTSTART;VALUE=DATE:20260303"], is: "03-02T23:00 03-03T23:00" },
    { what: "two days", more: ["DTSTART;VALUE=DATE:20260303", "DURATION:P2D"], is: "03-02T23:00 03-04T23:00" },
  ])("with a time of $what", async ({ more, is }) => {
    expect(await importText("a.ics", calendar(event("1", ...more)))).toMatchObject({
      added: { events: 1 },
      problemCount: 0,
    });
    expect(await listed()).toEqual([`Event 1 ${is}`]);
  });

  it("with a series, an exception, a cancelled date, and people", async () => {
    const report = await importText(
      "a.ics",
      calendar(
        event("1", "RECURRENCE-ID:20260310T130000Z", "DTSTART:20260310T150000Z", "DTEND:20260310T160000Z"),
        event(
          "1",
          "DTSTART:20260303T130000Z",
          "DTEND:20260303T140000Z",
          "RRULE:FREQ=WEEKLY;COUNT=4",
          "EXDATE:20260317T130000Z",
          "ORGANIZER;CN=Ana Ruiz:mailto:ana@acme.example",
          "ATTENDEE;PARTSTAT=ACCEPTED;CN=Me:mailto:ME@acme.example",
        ),
      ),
    );
    expect(report).toMatchObject({ added: { events: 2 }, problemCount: 0 });
    expect(await listed()).toEqual([
      "Event 1 03-03T13:00 03-03T14:00",
      "Event 1 03-10T15:00 03-10T16:00",
      "Event 1 03-24T13:00 03-24T14:00",
    ]);
    const [first] = (await office.calendar.listEvents(march)).items;
    expect(first).toMatchObject({
      organizer: { name: "Ana Ruiz", address: "ana@acme.example" },
      attendees: [{ name: "Me", address: "me@acme.example", response: "accepted" }],
    });
    expect(
      await importText("b.ics", calendar(event("1", "DTSTART:20260303T130000Z", "RRULE:FREQ=WEEKLY;COUNT=4"))),
    ).toMatchObject({
      added: { events: 0 },
      known: { events: 1 },
    });
  });

  it("with a zone of another program uses the rules in the file", async () => {
    const zone = lines(
      "BEGIN:VTIMEZONE",
      "TZID:Home",
      "BEGIN:STANDARD",
      "DTSTART:19700101T000000",
      "TZOFFSETFROM:+0300",
      "TZOFFSETTO:+0300",
      "END:STANDARD",
      "END:VTIMEZONE",
    );
    const text = calendar(event("1", "DTSTART;TZID=Home:20260303T160000", "DURATION:PT1H")).replace(
      "VERSION:2.0",
      `VERSION:2.0\r\n${zone}`,
    );
    await importText("a.ics", text);
    expect(await listed()).toEqual(["Event 1 03-03T13:00 03-03T14:00"]);
  });

  it.each([
    { what: "an unreadable start", more: ["DTSTART:tomorrow"], reason: "date-time" },
    { what: "no start", more: [], reason: "no start" },
    { what: "an end before the start", more: ["DTSTART:20260303T130000Z", "DTEND:20260303T120000Z"], reason: "before" },
    {
      what: "a rule that repeats each second",
      more: ["DTSTART:20260303T130000Z", "RRULE:FREQ=SECONDLY"],
      reason: "RRULE",
    },
    {
      what: "a rule without a match",
      more: ["DTSTART:20260303T130000Z", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"],
      reason: "RRULE",
    },
    {
      what: "a time that its zone skips",
      more: ["DTSTART;TZID=Europe/Berlin:20260329T023000", "DURATION:PT1H"],
      reason: "does not exist",
    },
    {
      what: "an exception of an unknown series",
      more: ["RECURRENCE-ID:20260310T130000Z", "DTSTART:20260310T150000Z"],
      reason: "not in the office",
    },
  ])("with $what has the other events", async ({ more, reason }) => {
    const report = await importText(
      "a.ics",
      calendar(event("bad", ...more), event("good", "DTSTART:20260303T130000Z")),
    );
    expect(reasons(report).join()).toContain(reason);
    expect(await listed()).toEqual(["Event good 03-03T13:00 03-03T13:30"]);
  });

  it.each([
    { what: "text", text: "hello" },
    { what: "nothing", text: "" },
    { what: "a calendar without an end", text: "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:x" },
  ])("of $what is a problem", async ({ text }) => {
    const report = await importText("a.ics", text);
    expect(report.added.events).toBe(0);
    expect(report.problemCount).toBeGreaterThan(0);
  });
});

describe("contacts", () => {
  const card = (...more: string[]) => lines("BEGIN:VCARD", "VERSION:3.0", ...more, "END:VCARD", "");

  it("of several cards, in all their fields", async () => {
    const report = await importText(
      "a.vcf",
      card(
        "UID:1",
        "FN:Ana Ruiz",
        "EMAIL;TYPE=work:ANA@acme.example",
        "EMAIL:ana@home.example",
        "TEL:+49 30 1",
        "ORG:Acme Corp;Sales",
        "TITLE:Head",
        "NOTE:a\\nb",
      ) + card("N:Li;Chen;;;").replace("3.0", "4.0"),
    );
    expect(report).toMatchObject({ added: { contacts: 2 }, problemCount: 0 });
    expect((await office.contacts.searchContacts({})).items).toMatchObject([
      {
        name: "Ana Ruiz",
        emails: ["ana@acme.example", "ana@home.example"],
        phones: ["+49 30 1"],
        organization: "Acme Corp",
        title: "Head",
        note: "a\nb",
      },
      { name: "Chen Li", emails: [], organization: null },
    ]);
    expect(await importText("b.vcf", card("UID:1", "FN:Ana R"))).toMatchObject({
      added: { contacts: 0 },
      known: { contacts: 1 },
    });
    expect((await office.contacts.searchContacts({ text: "ruiz" })).items).toEqual([]);
  });

  it("with a broken card have the others", async () => {
    const report = await importText(
      "a.vcf",
      card("FN:Ana") + card("no colon here") + card("EMAIL:not an address") + card("FN:Bob").replace("3.0", "2.1"),
    );
    expect((await office.contacts.searchContacts({})).items.map(({ name }) => name)).toEqual(["Ana"]);
    expect(reasons(report)).toEqual([
      expect.stringContaining("card 2"),
      expect.stringContaining("card 3: has neither a name nor an address"),
      expect.stringContaining("card 4: is a vCard of version 2.1"),
    ]);
  });

  it("with tags and line breaks in a name keep them as text on one line", async () => {
    await importText("a.vcf", card("FN:<b>Eve</b>\\nBcc: x@y.example"));
    expect((await office.contacts.searchContacts({})).items[0]?.name).toBe("<b>Eve</b> Bcc: x@y.example");
  });
});

describe("an export of Slack", () => {
  const json = (value: unknown) => strToU8(JSON.stringify(value));
  const base: Zippable = {
    "users.json": json([
      { id: "U1", name: "ana", real_name: "Ana Ruiz", tz: "Europe/Madrid", profile: { email: "Ana@acme.example" } },
    ]),
    "channels.json": json([{ id: "C1", name: "general" }]),
    "dms.json": json([{ id: "D1", members: ["U1"] }]),
  };
  const day = (...messages: object[]) => json(messages.map((message) => ({ type: "message", ...message })));

  /** The same export, whose list of files states another size for its day. */
  function withSizeOfDay(zip: Uint8Array, sizeBytes: number): Buffer {
    const bytes = Buffer.from(zip);
    const name = bytes.lastIndexOf("general/2026-03-02.json");
    // The list of files is at the end. An entry has 46 bytes before the name, with the size at the 24th.
    bytes.writeUInt32LE(sizeBytes, name - 46 + 24);
    return bytes;
  }

  it("has members, channels, threads and reactions, with names in place of ids", async () => {
    const report = await importText(
      "a.zip",
      zipSync({
        ...base,
        "general/2026-03-02.json": day(
          {
            user: "U1",
            ts: "1772442000.000100",
            text: "Hi <@U1>, see <https://a.example|this> in <#C1> &amp; &lt;b&gt;",
            thread_ts: "1772442000.000100",
          },
          {
            bot_id: "B1",
            ts: "1772442060.000100",
            text: "done",
            thread_ts: "1772442000.000100",
            reactions: [{ name: "tada", count: 2, users: [] }],
          },
        ),
        "D1/2026-03-02.json": day({ user: "U1", ts: "1772442000.000200", text: "psst" }),
      }),
    );
    expect(report).toMatchObject({ kind: "slack", added: { channelMessages: 3 }, problemCount: 0 });
    const thread = await office.channels.threadReplies({ channel: "general", message: "1772442000.000100" });
    expect(thread.items).toMatchObject([
      {
        author: { name: "Ana Ruiz" },
        text: "Hi @ana, see this (https://a.example) in #general & <b>",
        sentAt: "2026-03-02T09:00:00.000Z",
        replyCount: 1,
      },
      { author: { name: "B1" }, thread: "1772442000.000100", reactions: [{ name: "tada", count: 2 }] },
    ]);
    expect(await office.channels.userInfo("@ana")).toMatchObject({
      email: "ana@acme.example",
      timeZone: "Europe/Madrid",
    });
    expect((await office.channels.channelMessages({ channel: "D1" })).items).toHaveLength(1);
  });

  it("with broken days and messages has the others", async () => {
    const report = await importText(
      "a.zip",
      zipSync({
        ...base,
        "general/2026-03-01.json": strToU8("[{"),
        "general/2026-03-02.json": json([
          { type: "message", ts: "now" },
          { type: "message", user: "U1", ts: "1772442000.1", text: "good" },
          null,
        ]),
      }),
    );
    expect((await office.channels.searchMessages({})).items.map(({ text }) => text)).toEqual(["good"]);
    expect(report.problems.map(({ where }) => where)).toEqual([
      "general/2026-03-01.json",
      "general/2026-03-02.json, message 1",
      "general/2026-03-02.json, message 3",
    ]);
  });

  it.each(["../../evil/2026-03-02.json", "/etc/2026-03-02.json", "C:\\evil\\2026-03-02.json"])(
    "with the path %s is refused, and writes no file",
    async (path) => {
      const before = await readdir(folder, { recursive: true });
      const report = await importText(
        "a.zip",
        zipSync({ ...base, [path]: day({ user: "U1", ts: "1772442000.1", text: "x" }) }),
      );
      expect(report).toMatchObject({ added: { channelMessages: 0 }, problemCount: 1 });
      expect((await readdir(folder, { recursive: true })).filter((name) => !before.includes(name))).toEqual(["a.zip"]);
    },
  );

  it("that unpacks to more than it says is stopped", async () => {
    const zip = zipSync({ ...base, "general/2026-03-02.json": strToU8(`[${" ".repeat(3_000_000)}]`) });
    const bytes = withSizeOfDay(zip, 10);
    const report = await importText("a.zip", bytes);
    expect(report.added.channelMessages).toBe(0);
    expect(reasons(report)).toEqual([expect.stringContaining("general/2026-03-02.json")]);
  });

  it("with a file of 60 MB leaves it out before it is unpacked", async () => {
    const zip = zipSync({ ...base, "general/2026-03-02.json": day({ user: "U1", ts: "1772442000.1", text: "x" }) });
    const report = await importText("a.zip", withSizeOfDay(zip, 60_000_000));
    expect(reasons(report)).toEqual(["general/2026-03-02.json: is larger than 50 MB"]);
  });

  it.each([
    { what: "no zip", bytes: strToU8("hello") },
    { what: "an empty zip", bytes: zipSync({}) },
    { what: "a zip of another program", bytes: zipSync({ "a.txt": strToU8("x") }) },
    { what: "a zip that was cut", bytes: zipSync(base).slice(0, 200) },
  ])("that is $what is a problem", async ({ bytes }) => {
    expect(await importText("a.zip", bytes)).toMatchObject({ added: { channelMessages: 0 }, problemCount: 1 });
  });
});

describe("files", () => {
  it("that are missing, unknown or folders are problems, and do not stop the others", async () => {
    await writeFile(join(folder, "good.eml"), lines(...head("1", "Hi"), "", "x"));
    await writeFile(join(folder, "a.docx"), "x");
    const files = ["none.eml", "a.docx", "office", "good.eml"].map((name) => join(folder, name));
    const reports = await importFiles(office, files);
    expect(reports.map(({ kind, problems }) => [kind, problems[0]?.reason])).toEqual([
      [null, "the file does not exist"],
      [null, `files with the ending ".docx" cannot be imported: use .eml, .mbox, .ics, .vcf, .zip`],
      [null, expect.stringMatching(/^is a folder: name its files, such as .+\*\.eml$/)],
      ["eml", undefined],
    ]);
    expect(await mails()).toHaveLength(1);
  });
});
