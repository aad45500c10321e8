import type { z } from "zod";
import { similarAddress } from "../../contacts/similar-address.ts";
import { numbersIn } from "../../local/database/cursor.ts";
import { ConnectorError, parseParams } from "../../ports/connector-error.ts";
import {
  type Contact,
  ContactQuery,
  type ContactsConnector,
  type EmailCheck,
  type Organization,
  OrganizationQuery,
} from "../../ports/contacts.ts";
import type { Page } from "../../ports/page.ts";
import { EmailAddress } from "../../ports/person.ts";
import type { GoogleSession } from "../google-session.ts";
import { createContactBook } from "./contact-book.ts";

export interface GoogleContactsOptions {
  session: GoogleSession;
  /** Whether the user allowed to read the addresses of earlier mails. */
  hasOthers: boolean;
  now: () => number;
}

/** The contacts of one account, and the addresses of its earlier mails. */
export function createGoogleContacts({ session, hasOthers, now }: GoogleContactsOptions): ContactsConnector {
  const book = createContactBook(session, hasOthers, now);
  const probe = { resourceName: "people/me", personFields: "names", pageSize: 1 };
  return {
    status: () => session.status(false, ({ people }) => people.people.connections.list(probe)),
    refresh: () => session.refresh(),
    async searchContacts(query) {
      const parsed = parseParams(ContactQuery, query);
      const offset = offsetOf(parsed.cursor);
      return pageOf(
        (await book.all()).filter((contact) => matches(contact, parsed)).toSorted(byName),
        offset,
        parsed.limit,
      );
    },
    async getContact(id) {
      const contact = (await book.all()).find((each) => each.id === id);
      if (contact) return contact;
      throw new ConnectorError("params", `no contact has the id ${JSON.stringify(id)}`, {
        param: "id",
        fix: "search for the contact and use its id",
      });
    },
    async listOrganizations(query) {
      const parsed = parseParams(OrganizationQuery, query);
      const offset = offsetOf(parsed.cursor);
      const found = organizationsOf(await book.all()).filter(({ name }) => hasWords(name, parsed.text));
      return pageOf(found.toSorted(byName), offset, parsed.limit);
    },
    validateEmail: async (address) => checkEmail(await book.all(), String(address)),
  };
}

function offsetOf(cursor: string | null): number {
  return cursor === null ? 0 : Number(numbersIn(cursor, 1)[0]);
}

function pageOf<Item>(items: readonly Item[], offset: number, limit: number): Page<Item> {
  const next = offset + limit;
  return { items: items.slice(offset, next), nextCursor: next < items.length ? `${next}` : null };
}

/** Without accents and in lower case. */
function fold(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

function byName(a: { name: string }, b: { name: string }): number {
  const [first, second] = [fold(a.name), fold(b.name)];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** Every word of the query begins a word of the text. */
function hasWords(text: string, query: string): boolean {
  const words = wordsOf(text);
  return wordsOf(query).every((part) => words.some((word) => word.startsWith(part)));
}

function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

function matches(contact: Contact, { text, organization }: z.output<typeof ContactQuery>): boolean {
  const { name, emails, title, organization: own } = contact;
  if (organization !== "" && !fold(own ?? "").startsWith(fold(organization.trim()))) return false;
  return hasWords([name, ...emails, title ?? "", own ?? ""].join(" "), text);
}

function organizationsOf(contacts: readonly Contact[]): Organization[] {
  const members = Map.groupBy(
    contacts.filter(({ organization }) => organization !== null),
    ({ organization }) => fold(organization ?? ""),
  );
  return [...members.values()].map((people) => ({
    name: people[0]?.organization ?? "",
    domain: mostFrequent(people.flatMap(({ emails }) => emails.map((email) => email.slice(email.indexOf("@") + 1)))),
    contactCount: people.length,
  }));
}

function mostFrequent(values: readonly string[]): string | null {
  const counts = [...Map.groupBy(values, (each) => each)].map(([each, all]) => ({ each, count: all.length }));
  return counts.toSorted((a, b) => b.count - a.count || (a.each < b.each ? -1 : 1))[0]?.each ?? null;
}

function checkEmail(contacts: readonly Contact[], given: string): EmailCheck {
  const parsed = EmailAddress.safeParse(given);
  const address = parsed.success ? parsed.data : given.trim().toLowerCase();
  const contact = contacts.find(({ emails }) => emails.includes(address)) ?? null;
  return {
    address,
    isValid: parsed.success,
    reason: parsed.success ? null : (parsed.error.issues[0]?.message ?? "is not a mail address"),
    contact: parsed.success ? contact : null,
    suggestion: contact
      ? null
      : similarAddress(
          address,
          contacts.flatMap(({ emails }) => emails),
        ),
  };
}
