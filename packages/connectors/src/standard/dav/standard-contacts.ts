import { createOnce } from "../../idempotency/once.ts";
import { parseCard } from "../../import/contact-files.ts";
import { putContact } from "../../local/contacts/contact-store.ts";
import { createLocalContacts } from "../../local/contacts/local-contacts.ts";
import { openMemoryOffice } from "../../local/database/office-database.ts";
import { ensureMailbox } from "../../local/mail/mail-store.ts";
import { parseParams } from "../../ports/connector-error.ts";
import type { ContactsConnector } from "../../ports/contacts.ts";
import { StandardAccount } from "../standard-options.ts";
import { createDavClient } from "./dav-client.ts";
import { createDavCopy } from "./dav-copy.ts";
import { davStatus } from "./dav-status.ts";

/**
 * The contacts of an account at a server of CardDAV. They are read into memory, and only changed ones are read again.
 *
 * @example
 * const contacts = createStandardContacts({
 *   user: { name: "Ana", address: "ana@acme.example" },
 *   password: process.env.DAV_PASSWORD ?? "",
 *   carddav: "https://dav.acme.example/",
 * });
 * const { items } = await contacts.searchContacts({ organization: "Globex" });
 */
export function createStandardContacts(options: StandardAccount): ContactsConnector {
  const account = parseParams(StandardAccount, options);
  const { user: person, clock } = account;
  const client = createDavClient(account, "carddav");
  const database = openMemoryOffice();
  const mailbox = ensureMailbox(database, person);
  const contacts = createLocalContacts({ database, clock, person, mailbox, timeZone: "Etc/UTC" });
  const copy = createDavCopy({
    client,
    list: () => client.collections(),
    changed({ url, data }) {
      if (/^(X-ADDRESSBOOKSERVER-)?KIND:group/im.test(data)) return;
      try {
        putContact(database, { ...parseCard(data.replace(/\r\n?/g, "\n")), uid: url });
      } catch {
        // A broken card hides no other card.
      }
    },
    removed({ url }) {
      const known = database.get<{ number: number }>("SELECT number FROM contacts WHERE uid = ?", url);
      if (!known) return;
      database.run("DELETE FROM contact_addresses WHERE contact = ?", known.number);
      database.run("DELETE FROM contact_words WHERE rowid = ?", BigInt(known.number));
      database.run("DELETE FROM contacts WHERE number = ?", known.number);
    },
  });
  const once = createOnce();
  const synced = <Result>(read: () => Promise<Result>): Promise<Result> =>
    once("sync", async () => {
      await copy.sync();
      return read();
    });
  return {
    status: () => davStatus(account, client, { canWrite: false, note: null }),
    searchContacts: (query) => synced(() => contacts.searchContacts(query)),
    getContact: (id) => synced(() => contacts.getContact(id)),
    listOrganizations: (query) => synced(() => contacts.listOrganizations(query)),
    validateEmail: (address) => synced(() => contacts.validateEmail(address)),
  };
}
