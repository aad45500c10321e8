import type { Contact } from "../../ports/contacts.ts";
import type { OfficeDatabase } from "../database/office-database.ts";
import { shortHash } from "../mail/mail-store.ts";

/** A contact to store. `uid` names it in its source: a second one with the same uid replaces the first. */
export interface ContactRecord extends Omit<Contact, "id"> {
  uid: string;
}

/** Stores a contact, or replaces it. Returns whether it is new. */
export function putContact(database: OfficeDatabase, contact: ContactRecord): boolean {
  const { uid, name, emails, phones, organization, title, note } = contact;
  return database.transaction(() => {
    const known = database.get<{ number: number }>("SELECT number FROM contacts WHERE uid = ?", uid)?.number;
    if (known !== undefined) {
      database.run("DELETE FROM contact_addresses WHERE contact = ?", known);
      database.run("DELETE FROM contact_words WHERE rowid = ?", known);
    }
    const { number } = database.get<{ number: number }>(
      `INSERT INTO contacts (id, uid, name, emails, phones, organization, title, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (uid) DO UPDATE SET name = excluded.name, emails = excluded.emails, phones = excluded.phones,
         organization = excluded.organization, title = excluded.title, note = excluded.note RETURNING number`,
      ...[`contact_${shortHash(uid)}`, uid, name, JSON.stringify(emails), JSON.stringify(phones)],
      ...[organization, title, note],
    ) ?? { number: 0 };
    for (const address of emails) {
      const insert = "INSERT INTO contact_addresses (address, contact) VALUES (?, ?) ON CONFLICT DO NOTHING";
      database.run(insert, address, number);
    }
    database.run(
      "INSERT INTO contact_words (rowid, name, emails, title, organization) VALUES (?, ?, ?, ?, ?)",
      ...[BigInt(number), name, emails.join(" "), title, organization],
    );
    return known === undefined;
  });
}
