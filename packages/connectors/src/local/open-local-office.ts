import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import { parseParams } from "../ports/connector-error.ts";
import type { Connectors } from "../ports/connectors.ts";
import { TimeZone } from "../ports/event-time.ts";
import { Person } from "../ports/person.ts";
import { createLocalCalendar } from "./calendar/local-calendar.ts";
import { createLocalChannels } from "./channels/local-channels.ts";
import { createLocalContacts } from "./contacts/local-contacts.ts";
import { type OfficeDatabase, openOfficeDatabase } from "./database/office-database.ts";
import type { LocalAccount } from "./local-account.ts";
import { createLocalMail } from "./mail/local-mail.ts";
import { ensureMailbox } from "./mail/mail-store.ts";

/** Options of `openLocalOffice`. */
export const LocalOfficeOptions = z.strictObject({
  folder: z.string().min(1),
  /** Whose mail and calendar. Stored at the first open; without it, the stored user. */
  user: Person.nullable().default(null),
  /** The zone of the user's calendar. Stored at the first open. Default: the zone of this machine. */
  timeZone: TimeZone.nullable().default(null),
  clock: z.custom<LocalAccount["clock"]>().default(() => systemClock()),
});
export type LocalOfficeOptions = z.input<typeof LocalOfficeOptions>;

/** The connectors of a local office. */
export interface LocalOffice extends Connectors {
  readonly account: LocalAccount;
  /** Frees the file. Later calls fail. */
  close(): void;
}

const defaultUser: Person = { name: "Me", address: "me@office.local" };

/**
 * Opens a local office: mail, calendar, contacts and channels in one SQLite file of a folder. It needs no account. Mail to
 * people outside stays in its outbox.
 *
 * @example
 * const office = openLocalOffice({ folder: "/home/me/office", user: { name: "Ana", address: "ana@acme.example" } });
 * const page = await office.mail.searchMessages({ text: "invoice" });
 * office.close();
 */
export function openLocalOffice(options: LocalOfficeOptions): LocalOffice {
  const { folder, user, timeZone, clock } = parseParams(LocalOfficeOptions, options);
  const database = openOfficeDatabase(folder);
  const account = database.transaction((): LocalAccount => {
    const person = user ?? storedUser(database) ?? defaultUser;
    storeOnce(database, "user", JSON.stringify(person));
    const zone = timeZone ?? readSetting(database, "timeZone") ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
    storeOnce(database, "timeZone", zone);
    return { database, clock, person, mailbox: ensureMailbox(database, person), timeZone: zone };
  });
  return {
    account,
    mail: createLocalMail(account),
    calendar: createLocalCalendar(account),
    contacts: createLocalContacts(account),
    channels: createLocalChannels(account),
    close: () => database.close(),
  };
}

function readSetting(database: OfficeDatabase, name: string): string | null {
  return database.get<{ value: string }>("SELECT value FROM settings WHERE name = ?", name)?.value ?? null;
}

function storedUser(database: OfficeDatabase): Person | null {
  const text = readSetting(database, "user");
  return text === null ? null : Person.parse(JSON.parse(text));
}

function storeOnce(database: OfficeDatabase, name: string, value: string): void {
  database.run("INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", name, value);
}
