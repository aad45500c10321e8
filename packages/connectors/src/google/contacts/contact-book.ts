import { z } from "zod";
import type { Contact } from "../../ports/contacts.ts";
import { toLine } from "../../ports/person.ts";
import type { GoogleSession } from "../google-session.ts";

const value = z.object({ value: z.string().default("") });
const Person = z.object({
  resourceName: z.string(),
  names: z.array(z.object({ displayName: z.string().default("") })).default([]),
  emailAddresses: z.array(value).default([]),
  phoneNumbers: z.array(value).default([]),
  organizations: z.array(z.object({ name: z.string().default(""), title: z.string().default("") })).default([]),
  biographies: z.array(value).default([]),
});
const PersonList = z.object({
  connections: z.array(Person).default([]),
  otherContacts: z.array(Person).default([]),
  nextPageToken: z.string().optional(),
});

/** All contacts of an account. A search of Google finds 30 contacts at most and no organizations, so all are read. */
export interface ContactBook {
  all(): Promise<readonly Contact[]>;
}

const pageSize = 1_000;
/** More contacts than this are left out. */
const pagesMax = 30;
/** A change of a contact is visible after this time. */
const freshMs = 300_000;

/** @param hasOthers whether the user allowed to read the addresses of earlier mails, which Google calls other contacts */
export function createContactBook(session: GoogleSession, hasOthers: boolean, now: () => number): ContactBook {
  let read: { contacts: Promise<readonly Contact[]>; atMs: number } | null = null;
  return {
    async all() {
      if (read === null || now() - read.atMs > freshMs) read = { contacts: readAll(session, hasOthers), atMs: now() };
      try {
        return await read.contacts;
      } catch (thrown) {
        read = null;
        throw thrown;
      }
    },
  };
}

const personFields = "names,emailAddresses,phoneNumbers,organizations,biographies";
/** Other contacts have no more than these. */
const otherFields = "names,emailAddresses,phoneNumbers";

type ReadPage = (page: { pageSize: number; pageToken?: string }) => Promise<z.infer<typeof PersonList>>;

async function readAll(session: GoogleSession, hasOthers: boolean): Promise<Contact[]> {
  const call = { what: "read contacts", schema: PersonList };
  const own = await readPages((page) =>
    session.call(call, ({ people }) =>
      people.people.connections.list({ resourceName: "people/me", personFields, ...page }),
    ),
  );
  const others = hasOthers
    ? await readPages((page) =>
        session.call(call, ({ people }) => people.otherContacts.list({ readMask: otherFields, ...page })),
      )
    : [];
  const known = new Set(own.flatMap(({ emails }) => emails));
  return [...own, ...others.filter(({ emails }) => !emails.some((email) => known.has(email)))];
}

async function readPages(readPage: ReadPage): Promise<Contact[]> {
  const contacts: Contact[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const list = await readPage({ pageSize, ...(pageToken === undefined ? {} : { pageToken }) });
    contacts.push(...[...list.connections, ...list.otherContacts].map(toContact));
    pageToken = list.nextPageToken;
    if (pageToken === undefined) break;
  }
  return contacts;
}

function toContact({ resourceName, ...person }: z.infer<typeof Person>): Contact {
  const emails = linesOf(person.emailAddresses).map((email) => email.toLowerCase());
  const [organization] = person.organizations;
  return {
    id: resourceName,
    name: toLine(person.names[0]?.displayName ?? "", 200) || (emails[0] ?? ""),
    emails,
    phones: linesOf(person.phoneNumbers),
    organization: toLine(organization?.name ?? "", 200) || null,
    title: toLine(organization?.title ?? "", 200) || null,
    note: person.biographies[0]?.value ?? "",
  };
}

function linesOf(values: readonly z.infer<typeof value>[]): string[] {
  return [...new Set(values.map((each) => toLine(each.value, 254)).filter((line) => line !== ""))];
}
