import type { z } from "zod";
import { similarAddress } from "../../contacts/similar-address.ts";
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
import type { SqlCondition } from "../database/conditions.ts";
import { numbersIn } from "../database/cursor.ts";
import { fullTextQuery } from "../database/full-text.ts";
import type { OfficeDatabase } from "../database/office-database.ts";
import { type LocalAccount, localStatus } from "../local-account.ts";
import { readGroups } from "./groups.ts";

/** The contacts of a local office. */
export function createLocalContacts(account: LocalAccount): ContactsConnector {
  const { database } = account;
  return {
    status: async () => localStatus(account, null, false),
    searchContacts: async (query) => searchContacts(database, parseParams(ContactQuery, query)),
    getContact: async (id) => getContact(database, id),
    listOrganizations: async (query) => listOrganizations(database, parseParams(OrganizationQuery, query)),
    validateEmail: async (address) => checkEmail(database, String(address)),
    groups: async () => readGroups(database),
  };
}

interface ContactRow {
  id: string;
  name: string;
  emails: string;
  phones: string;
  organization: string | null;
  title: string | null;
  note: string;
}

function toContact({ id, name, emails, phones, organization, title, note }: ContactRow): Contact {
  return { id, name, emails: JSON.parse(emails), phones: JSON.parse(phones), organization, title, note };
}

function searchContacts(database: OfficeDatabase, query: z.output<typeof ContactQuery>): Page<Contact> {
  const words = fullTextQuery(query.text, { prefixes: true });
  const conditions: SqlCondition[] = [
    ...(words === null
      ? []
      : [{ sql: "number IN (SELECT rowid FROM contact_words WHERE contact_words MATCH ?)", values: [words] }]),
    ...(query.organization === ""
      ? []
      : [{ sql: "organization LIKE ? ESCAPE '\\'", values: [`${escapeLike(query.organization)}%`] }]),
  ];
  const where = ["1", ...conditions.map(({ sql }) => sql)].join(" AND ");
  return readPage(database, query, toContact, {
    sql: `SELECT * FROM contacts WHERE ${where} ORDER BY name COLLATE NOCASE, number`,
    values: conditions.flatMap(({ values }) => values),
  });
}

function escapeLike(text: string): string {
  return text.trim().replace(/[\\%_]/g, "\\$&");
}

function listOrganizations(database: OfficeDatabase, query: z.output<typeof OrganizationQuery>): Page<Organization> {
  const words = query.text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, wordsMax);
  const matches = words.map(() => "(' ' || lower(organization)) LIKE ? ESCAPE '\\'");
  const where = ["organization IS NOT NULL", ...matches].join(" AND ");
  return readPage<OrganizationRow, Organization>(database, query, (row) => toOrganization(database, row), {
    sql: `SELECT min(organization) AS name, count(*) AS contactCount FROM contacts WHERE ${where}
      GROUP BY organization ORDER BY organization`,
    values: words.map((word) => `% ${escapeLike(word)}%`),
  });
}

const wordsMax = 20;

interface OrganizationRow {
  name: string;
  contactCount: number;
}

function toOrganization(database: OfficeDatabase, { name, contactCount }: OrganizationRow): Organization {
  const domain = database.get<{ domain: string }>(
    `SELECT substr(a.address, instr(a.address, '@') + 1) AS domain FROM contacts c
       JOIN contact_addresses a ON a.contact = c.number WHERE c.organization = ?
       GROUP BY domain ORDER BY count(*) DESC, domain LIMIT 1`,
    name,
  )?.domain;
  return { name, contactCount, domain: domain ?? null };
}

/** Lists of contacts are short, so that a cursor can be the number of rows before the page. */
function readPage<Row, Item>(
  database: OfficeDatabase,
  { limit, cursor }: { limit: number; cursor: string | null },
  toItem: (row: Row) => Item,
  { sql, values }: SqlCondition,
): Page<Item> {
  const [offset = 0n] = cursor === null ? [] : numbersIn(cursor, 1);
  const rows = database.all<Row>(`${sql} LIMIT ? OFFSET ?`, ...values, limit + 1, offset);
  const nextCursor = rows.length > limit ? `${offset + BigInt(limit)}` : null;
  return { items: rows.slice(0, limit).map(toItem), nextCursor };
}

function getContact(database: OfficeDatabase, id: string): Contact {
  const row = database.get<ContactRow>("SELECT * FROM contacts WHERE id = ?", id);
  if (row) return toContact(row);
  throw new ConnectorError("params", `no contact has the id ${JSON.stringify(id)}`, {
    param: "id",
    fix: "search for the contact and use its id",
  });
}

function checkEmail(database: OfficeDatabase, given: string): EmailCheck {
  const parsed = EmailAddress.safeParse(given);
  const address = parsed.success ? parsed.data : given.trim().toLowerCase();
  const row = database.get<ContactRow>(
    `SELECT c.* FROM contact_addresses a JOIN contacts c ON c.number = a.contact WHERE a.address = ?
      ORDER BY c.number LIMIT 1`,
    address,
  );
  return {
    address,
    isValid: parsed.success,
    reason: parsed.success ? null : (parsed.error.issues[0]?.message ?? "is not a mail address"),
    contact: row && parsed.success ? toContact(row) : null,
    suggestion: row ? null : similarKnown(database, address),
  };
}

/** Only addresses with the same name or domain can be similar. */
function similarKnown(database: OfficeDatabase, address: string): string | null {
  const [, name, domain] = /^([^\s@]{1,64})@([^\s@]{1,190})$/.exec(address) ?? [];
  if (name === undefined || domain === undefined) return null;
  const known = database.all<{ address: string }>(
    "SELECT DISTINCT address FROM contact_addresses WHERE address LIKE ? ESCAPE '\\' OR address LIKE ? ESCAPE '\\'",
    ...[`${escapeLike(name)}@%`, `%@${escapeLike(domain)}`],
  );
  return similarAddress(
    address,
    known.map((each) => each.address),
  );
}
