import { writeFile } from "node:fs/promises";
import path from "node:path";

/** Files of other programs, as a user has them. */
export async function writeOfficeFiles(folder: string): Promise<void> {
  const mail = ["From: eve@acme.example", "To: me@office.local", "Date: Mon, 2 Mar 2026 10:00:00 +0000", "Subject: Hi"];
  const text = [`Message-ID: <1@acme.example>`, ...mail, "", "Hello"].join("\n");
  await writeFile(path.join(folder, "archive.mbox"), `From eve@acme.example Mon Mar  2 10:00:00 2026\n${text}\n\n`);
  const event = ["BEGIN:VEVENT", "UID:e1", "DTSTAMP:20260301T100000Z", "DTSTART:20260302T100000Z"];
  const end = ["DTEND:20260302T110000Z", "SUMMARY:Review", "END:VEVENT", "END:VCALENDAR"];
  const calendar = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//EN", ...event, ...end, ""].join("\r\n");
  await writeFile(path.join(folder, "calendar.ics"), calendar);
  const card = ["BEGIN:VCARD", "VERSION:4.0", "UID:c1", "FN:Eve", "EMAIL:eve@acme.example", "END:VCARD", ""];
  await writeFile(path.join(folder, "contacts.vcf"), card.join("\r\n"));
}
