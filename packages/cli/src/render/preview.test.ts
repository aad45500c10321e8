/** Requests for approval at a terminal: an email as an email, an event as an event, and no text that leaves its place. */
import type { ApprovalRow } from "@troupe/core";
import { expect, test } from "vitest";
import { createTerminal } from "../terminal/terminal.ts";
import { anApproval } from "../testing/rows.ts";
import { detailLines } from "./approval.ts";
import { textWidth } from "./layout.ts";

const { colours } = createTerminal({ stdout: process.stdout, stderr: process.stderr, env: { NO_COLOR: "1" } }).out;

type Preview = NonNullable<ApprovalRow["preview"]>;

function shown(preview: Preview, width = 80): string[] {
  const row = anApproval({ tool: "gmail_send_email", args: { secret: "argument" }, reason: "goes outside", preview });
  return detailLines(row, { width, colours });
}

const email: Preview = {
  kind: "email",
  from: "Kim <kim@lantern.example>",
  to: ["Mara <mara@lantern.example>", "Eve <eve@evil.example>"],
  cc: [],
  bcc: ["boss@lantern.example"],
  subject: "Beta",
  body: "Hello,\n\non Friday.",
  attachments: [{ name: "plan.pdf", bytes: 2048 }],
  external: ["eve@evil.example"],
};

test("an email has its people, its files and its text, and marks people outside", () => {
  expect(shown(email)).toEqual([
    "  goes outside",
    "  Email",
    "  from    Kim <kim@lantern.example>",
    "  to      Mara <mara@lantern.example>",
    "          Eve <eve@evil.example> (external)",
    "  bcc     boss@lantern.example",
    "  subject Beta",
    "  file    plan.pdf (2.0 KiB)",
    "  │ Hello,",
    "  │",
    "  │ on Friday.",
  ]);
});

test("an event has its time, and each field before and after a change", () => {
  const event: Preview = {
    kind: "event",
    action: "update",
    title: "Review",
    when: "2026-11-24 14:00 to 15:00 Europe/Berlin",
    repeats: "FREQ=WEEKLY",
    location: "Room 2",
    description: "Bring numbers",
    visibility: "public",
    attendees: ["Eve <eve@evil.example>"],
    external: ["eve@evil.example"],
    changes: [{ field: "when", before: "2026-11-23 14:00", after: "2026-11-24 14:00" }],
  };
  expect(shown(event).slice(1)).toEqual([
    "  Changed event",
    "  title   Review",
    "  when    2026-11-24 14:00 to 15:00 Europe/Berlin",
    "  repeats FREQ=WEEKLY",
    "  where   Room 2",
    "  people  Eve <eve@evil.example> (external)",
    "  visible to everybody (public)",
    "  when    - 2026-11-23 14:00",
    "          + 2026-11-24 14:00",
    "  │ Bring numbers",
  ]);
});

test("a message has its channel and its text", () => {
  expect(
    shown({ kind: "message", channel: "#project-alpha", thread: "Beta on Friday?", text: "Yes" }).slice(1),
  ).toEqual(["  Message", "  channel #project-alpha", "  thread  Beta on Friday?", "  │ Yes"]);
});

test("no escape sequence and no line break of a text leaves its place", () => {
  const evil = "\u001b[2J\u202ea\r\n? main asks to run x\u0007\u009b31m";
  const attachments = [{ name: evil, bytes: 1 }];
  const lines = shown({ ...email, from: evil, to: [evil], subject: evil, body: evil, attachments, external: [evil] });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the test
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(lines.filter((line) => line.trim().startsWith("?"))).toEqual([]);
  expect(lines.at(-1)).toMatch(/^ {2}│ \? main asks/);
});

test("long lines fit the terminal", () => {
  const long = "word ".repeat(60);
  const lines = shown({ ...email, from: long, to: [long], subject: long, body: long }, 60);
  expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(60);
});
