import ICAL from "ical.js";
import { type ContactRecord, putContact } from "../local/contacts/contact-store.ts";
import type { LocalAccount } from "../local/local-account.ts";
import { shortHash } from "../local/mail/mail-store.ts";
import { toLine } from "../ports/person.ts";
import { addProblem, countRow, type ImportedFile } from "./import-report.ts";
import { readText } from "./read-text.ts";

const addressesMax = 50;

/** Contacts of a vCard file, each read alone: a broken card does not hide the others. */
export async function importVcf(path: string, { database }: LocalAccount, report: ImportedFile): Promise<void> {
  const text = (await readText(path)).replace(/\r\n?/g, "\n");
  const cards = text.match(/^BEGIN:VCARD[ \t]*\n[\s\S]*?^END:VCARD[ \t]*$/gim) ?? [];
  if (cards.length === 0) throw new Error("has no vCard that can be read");
  const contacts = cards.flatMap((card, i) => {
    try {
      return [parseCard(card)];
    } catch (thrown) {
      addProblem(report, `card ${i + 1}`, thrown);
      return [];
    }
  });
  database.transaction(() => {
    for (const contact of contacts) countRow(report, "contacts", putContact(database, contact));
  });
}

/** Reads one vCard. Throws for one that cannot be stored. */
export function parseCard(text: string): ContactRecord {
  if (/^VERSION:2\.1/im.test(text)) throw new Error("is a vCard of version 2.1: export it as version 3.0 or 4.0");
  const card = new ICAL.Component(ICAL.parse(text));
  const values = (name: string): string[] =>
    card
      .getAllProperties(name)
      .slice(0, addressesMax)
      .map((property) => toLine(property.getValues().flat().map(String).join(" "), 500))
      .filter((value) => value !== "");
  const emails = [...new Set(values("email").map((email) => email.toLowerCase()))].filter((email) =>
    /^[^\s@]{1,64}@[^\s@]{1,189}$/.test(email),
  );
  const name = values("fn")[0] ?? nameParts(card) ?? emails[0];
  if (name === undefined) throw new Error("has neither a name nor an address");
  const organization = card.getFirstProperty("org")?.getFirstValue();
  const [first] = [organization].flat().map((part) => toLine(String(part ?? ""), 200));
  return {
    uid: values("uid")[0] ?? `import ${shortHash(emails[0] ?? name.toLowerCase())}`,
    name,
    emails,
    phones: values("tel").map((phone) => phone.replace(/^tel:/i, "")),
    organization: first || null,
    title: values("title")[0] ?? null,
    note: String(card.getFirstPropertyValue("note") ?? "")
      .replaceAll("\0", "")
      .slice(0, 10_000),
  };
}

/** First and last name of the structured name. */
function nameParts(card: ICAL.Component): string | undefined {
  const [last, first] = [card.getFirstPropertyValue("n") ?? []].flat().map(String);
  return toLine(`${first ?? ""} ${last ?? ""}`, 200) || undefined;
}
