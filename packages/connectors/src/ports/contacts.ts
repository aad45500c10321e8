import { z } from "zod";
import type { Connector } from "./connection.ts";
import { type Page, pageFields } from "./page.ts";
import type { Person } from "./person.ts";

/** A search in the contacts. All given fields must match. */
export const ContactQuery = z.strictObject({
  /** Beginnings of words of the name, the address, the title or the organization. */
  text: z.string().max(200).default(""),
  /** The name of an organization, or the beginning of it. */
  organization: z.string().max(200).default(""),
  ...pageFields,
});
export type ContactQuery = z.input<typeof ContactQuery>;

/** A search for organizations. */
export const OrganizationQuery = z.strictObject({
  /** Beginnings of words of the name. */
  text: z.string().max(200).default(""),
  ...pageFields,
});
export type OrganizationQuery = z.input<typeof OrganizationQuery>;

/** A person or an address that the account knows. */
export interface Contact {
  id: string;
  name: string;
  emails: string[];
  phones: string[];
  organization: string | null;
  title: string | null;
  note: string;
}

/** An organization of contacts. */
export interface Organization {
  name: string;
  /** The domain of most of its addresses. */
  domain: string | null;
  contactCount: number;
}

/** The result of a check of an address. No mail is sent, and no server is asked. */
export interface EmailCheck {
  address: string;
  /** The address can exist by its form. */
  isValid: boolean;
  /** The problem of an invalid address. */
  reason: string | null;
  /** The contact with this address. */
  contact: Contact | null;
  /** A known address that differs in a few letters, for an unknown one. */
  suggestion: string | null;
}

/** The contacts of one account. */
export interface ContactsConnector extends Connector {
  /** By name. */
  searchContacts(query: ContactQuery): Promise<Page<Contact>>;
  /** Throws `params` if no such contact exists. */
  getContact(id: string): Promise<Contact>;
  /** By name. */
  listOrganizations(query: OrganizationQuery): Promise<Page<Organization>>;
  /** Never throws because of the address. */
  validateEmail(address: string): Promise<EmailCheck>;
  /** The members of groups, by their names in lower case. @default absent: the service has no groups */
  groups?(): Promise<Readonly<Record<string, readonly Person[]>>>;
}
