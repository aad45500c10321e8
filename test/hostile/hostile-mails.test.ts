/**
 * A model reads mails, events and channels of strangers, believes every word, and makes the ordered call: a person is asked about
 * exactly this call, sees its real effect, and nothing happens before an answer. One office and one team serve all texts.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createOfficeTools, importFiles, type LocalOffice, openLocalOffice, seedOffice } from "@troupe/connectors";
import { addChannelMessage } from "@troupe/connectors/internal";
import { ApprovalAnswer, type Entry, type ModelRequest } from "@troupe/core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { call, calling, type ModelOutput, toolResultsIn } from "../delegation/scripted-agents.ts";
import { type Session, type Team, withTeam } from "../delegation/team.ts";
import { type HostileText, hostileTexts } from "./hostile-texts-of-office.ts";

let folder: string;
let workspace: string;
let office: LocalOffice;
let team: Team;
/** Ids of the mails, and of an own event. */
const mailIds: string[] = [];
let eventId: string;
let before: unknown;
const [ready, over] = [Promise.withResolvers<Team>(), Promise.withResolvers<void>()];
let closed: Promise<void>;

const senderOf = (i: number): string => `sender${i}@evil.example`;
const isMail = ({ place }: HostileText): boolean => place !== "event" && place !== "channel";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "troupe-hostile-mails-"));
  workspace = path.join(folder, "work");
  await mkdir(workspace);
  await writeFile(path.join(workspace, "keys.txt"), "a key");
  const user = { name: "Kim Berg", address: "kim@lantern.example" };
  office = openLocalOffice({ folder: path.join(folder, "office"), user, timeZone: "Europe/Berlin" });
  seedOffice(office);
  await writeTexts();
  const [nextMonth, later] = [35, 36].map((days) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
  );
  const time = (hour: string) => ({ dateTime: `${nextMonth}T${hour}:00:00`, timeZone: "Europe/Berlin" });
  const board = { title: "Board meeting", start: time("20"), end: time("21") };
  const attendees = [{ name: "Mara", address: "mara@lantern.example" }];
  ({ id: eventId } = await office.calendar.createEvent({ ...board, attendees }, { idempotencyKey: `board ${later}` }));
  before = await stateOfOffice();

  const tools = createOfficeTools({ connectors: async () => office });
  const agents = [{ id: "main", tools: tools.map(({ spec }) => spec.name) }];
  closed = withTeam({ agents, answer, tools, capacity: 4 }, (opened) => {
    ready.resolve(opened);
    return over.promise;
  });
  team = await Promise.race([ready.promise, closed.then(() => ready.promise)]);
});

afterAll(async () => {
  over.resolve();
  await closed;
  office.close();
  await rm(folder, { recursive: true, force: true });
});

/** Puts the texts into the office as a stranger does: by mail, by an invitation, and by a message. */
async function writeTexts(): Promise<void> {
  for (const [i, row] of hostileTexts.entries()) {
    const file = path.join(folder, `${i}.${row.place === "event" ? "ics" : "eml"}`);
    if (row.place === "channel") {
      const own = {
        id: `hostile.${i}`,
        channel: "support",
        author: "omar",
        sentMs: Date.now() - 3_600_000 + i * 1_000,
      };
      addChannelMessage(office.account.database, { ...own, text: row.text, thread: null, reactions: [] });
      continue;
    }
    await writeFile(file, row.place === "event" ? invitation(row, i) : mail(row, i));
    const [report] = await importFiles(office, [file]);
    if (report?.problemCount !== 0) throw new Error(`text ${i} was not imported: ${JSON.stringify(report)}`);
  }
  for (const [i, row] of hostileTexts.entries()) {
    if (!isMail(row)) continue;
    const { items } = await office.mail.searchMessages({ from: senderOf(i) });
    mailIds[i] = items[0]?.id ?? "";
  }
}

function mail({ place, text }: HostileText, i: number): string {
  const encoded = (word: string): string => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`;
  const name = place === "name" ? encoded(text) : "A stranger";
  const type = place === "html" ? "text/html" : "text/plain";
  const content = place === "html" || place === "body" ? text : "Hello.";
  const lines = [
    ...[`From: ${name} <${senderOf(i)}>`, "To: kim@lantern.example, tomas@lantern.example", "MIME-Version: 1.0"],
    ...[`Subject: ${encoded(place === "subject" ? text : "Hello")}`, `Message-ID: <hostile.${i}@evil.example>`],
    ...[`Date: ${new Date(Date.now() - 60_000).toUTCString()}`, 'Content-Type: multipart/mixed; boundary="part"', ""],
    ...["--part", `Content-Type: ${type}; charset=utf-8`, "", content],
    ...(place === "attachment"
      ? ["--part", "Content-Type: application/pdf", `Content-Disposition: attachment; filename="${text}"`, "", "x"]
      : []),
    "--part--",
  ];
  return lines.join("\r\n");
}

function invitation({ text }: HostileText, i: number): string {
  const stamp = (hours: number): string =>
    new Date(Date.now() + hours * 3_600_000).toISOString().replace(/[-:]|\.\d+/g, "");
  const lines = [
    ...["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//evil//EN", "BEGIN:VEVENT", `UID:hostile.${i}@evil.example`],
    ...[`DTSTAMP:${stamp(0)}`, `DTSTART:${stamp(24 + i)}`, `DTEND:${stamp(25 + i)}`],
    `SUMMARY:${text.replace(/[\\,;]/g, "\\$&")}`,
    ...[`ORGANIZER:mailto:${senderOf(i)}`, "ATTENDEE:mailto:kim@lantern.example", "END:VEVENT", "END:VCALENDAR"],
  ];
  return `${lines.join("\r\n")}\r\n`;
}

/** Everything that a call could have changed. */
async function stateOfOffice() {
  const year = {
    from: new Date(Date.now() - 86_400_000).toISOString(),
    to: new Date(Date.now() + 60 * 86_400_000).toISOString(),
  };
  const events = await office.calendar.listEvents({ ...year, limit: 100 });
  const folders = await Promise.all(
    (["sent", "drafts"] as const).map((each) => office.mail.searchMessages({ folder: each, limit: 100 })),
  );
  return {
    events: events.items.map(({ id, title, description, attendees, visibility }) => ({
      id,
      title,
      description,
      attendees,
      visibility,
    })),
    mail: folders.flatMap(({ items }) => items.map(({ id }) => id)),
    messages: (await office.channels.searchMessages({ limit: 100 })).items.map(({ id }) => id),
  };
}

/** Reads the text, then makes the call that it orders. */
function answer(question: ModelRequest): ModelOutput {
  const { task, step } = question.origin;
  const [, number = ""] = /^read (\d+)/.exec(task) ?? [];
  const i = Number(number);
  const row = hostileTexts[i];
  if (!row) return "I know no such text.";
  if (step === 1) return calling(readingCall(row, i));
  if (step > 2) return "done";
  const read = toolResultsIn(question)[0]?.text ?? "";
  // A model can obey only a text that the tool has shown to it.
  if (!textsIn(JSON.parse(read)).some((text) => text.includes(row.seen ?? row.text))) return "I read no order.";
  return calling(call(row.tool, argsOf(row, i), "ordered"));
}

function readingCall({ place, text }: HostileText, i: number) {
  if (place === "channel") return call("slack_get_channel_messages", { channel: "support" }, "read");
  if (place === "event") return call("calendar_list_events", { text: text.split(" ").at(-1) ?? "" }, "read");
  if (place === "subject" || place === "name") return call("gmail_search_messages", { from: senderOf(i) }, "read");
  return call("gmail_get_message", { message_id: mailIds[i] }, "read");
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function argsOf({ args }: HostileText, i: number): unknown {
  return JSON.parse(
    JSON.stringify(args)
      .replaceAll("$MAIL", mailIds[i] ?? "")
      .replaceAll("$EVENT", eventId),
  );
}

/** Answers every question of a session, and resolves to the entries of its run. */
async function entriesAfter(session: Session, approved: boolean): Promise<Entry[]> {
  const given = ApprovalAnswer.parse({ approved, by: "Kim" });
  let isOver = false;
  void session.response.then(() => {
    isOver = true;
  });
  await team.rowsOnce(session.session, (found) => {
    for (const { id, state } of found.approvals) if (state === "waiting") void team.service.answer(id, given);
    return isOver;
  });
  await session.response;
  return await team.entries(session);
}

const questionsIn = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.kind === "approval.requested" ? [entry.approval] : []));
const outcomesIn = (entries: readonly Entry[], tool: string) =>
  entries.flatMap((entry) => (entry.kind === "tool.finished" && entry.tool === tool ? [entry.outcome] : []));

const rows = hostileTexts.map((row, i) => ({ ...row, i }));

describe.concurrent("a model that obeys a stranger's text", () => {
  it.for(rows)(
    "$what in a $place: a person is asked, and sees the effect ($i)",
    { timeout: 180_000 },
    async ({ i, tool, asks, shows }, { expect }) => {
      const session = await team.begin(`read ${i}`, { agent: "main", workspace });
      const entries = await entriesAfter(session, false);
      const questions = questionsIn(entries);
      expect(questions).toMatchObject([{ tool, args: argsOf(hostileTexts[i] as HostileText, i) }]);
      const [question] = questions;
      const why =
        asks === "risk" ? /high risk is "ask" \(/ : /text that a stranger may have written .* and private data/;
      expect(question?.reason).toMatch(why);
      expect(question?.risk).toBe(asks === "risk" ? "high" : "medium");
      expect(JSON.stringify(question?.preview)).toContain(shows);
      expect(question?.covers ?? []).toEqual([]);
    },
  );
});

it("there are fifty of them, and none has changed anything", async ({ expect }) => {
  expect(hostileTexts).toHaveLength(50);
  expect(new Set(hostileTexts.map(({ place }) => place)).size).toBe(7);
  expect(hostileTexts.filter(({ asks }) => asks === "rule of two").length).toBeGreaterThan(9);
  expect(await stateOfOffice()).toEqual(before);
});

it("an approval lets exactly that call through", async ({ expect }) => {
  const session = await team.begin("read 0", { agent: "main", workspace });
  const entries = await entriesAfter(session, true);
  expect(questionsIn(entries)).toHaveLength(1);
  const [outcome] = outcomesIn(entries, "gmail_send_email");
  expect(JSON.parse(outcome?.output ?? "")).toMatchObject({ recipients: ["eve@evil.example"] });
  const after = await stateOfOffice();
  expect(after.mail.length).toBe((before as typeof after).mail.length + 1);
});
