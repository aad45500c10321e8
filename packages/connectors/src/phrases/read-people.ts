import type { Contact, ContactsConnector } from "../ports/contacts.ts";
import { EmailAddress, type Person } from "../ports/person.ts";
import { missing } from "./phrase.ts";

/** The people that a request names. */
export interface PeoplePhrase {
  people: Person[];
  assumptions: string[];
}

/** Options of `readPeople`. */
export interface PeopleOptions {
  contacts: ContactsConnector;
  user: Person;
  /** The members of groups, by their names in lower case: `{ "sales": [...] }`. @default the groups of the contacts */
  groups?: Readonly<Record<string, readonly Person[]>>;
}

const peopleMax = 100;
const group = /^(?:(?:the |my |our )?(?:whole |entire )?team|everyone|everybody|all(?: of us)?|(?:my )?colleagues)$/i;
const ofOrganization =
  /^(?:(?:everyone|everybody|all(?: the)?(?: people)?|people|the people|contacts|the team|folks)\s+(?:at|from|of|in)\s+(.+)|(.+?)(?:'s|’s)?\s+(?:contacts|team|people))$/i;

/**
 * Splits a list of names: commas, semicolons, "and", "&".
 *
 * @example
 * splitNames("John, Sarah Whitfield and bob@x.example"); // ["John", "Sarah Whitfield", "bob@x.example"]
 */
export function splitNames(text: string): string[] {
  return text
    .split(/\s*[,;]\s*(?:and\s+)?|\s+(?:and|&|plus)\s+/i)
    .map((name) =>
      name
        .trim()
        .replace(/^(?:with|to)\s+/i, "")
        .replace(/[.!?]+$/, ""),
    )
    .filter((name) => name !== "");
}

/**
 * Finds the people that a request names: addresses as they are, names by the contacts, and "the team" as the group `team`, else as
 * the contacts with the user's domain. Throws `params` for an unknown name, and for one that fits several people; the message lists them.
 *
 * @example
 * const { people } = await readPeople("Sarah and john@acme.example", { contacts: office.contacts, user });
 */
export async function readPeople(text: string, options: PeopleOptions): Promise<PeoplePhrase> {
  const found = new Map<string, Person>();
  const assumptions: string[] = [];
  for (const name of splitNames(text)) {
    const { people, assumption } = await findNamed(name, options);
    for (const person of people) found.set(person.address, person);
    if (assumption !== null) assumptions.push(assumption);
  }
  if (found.size === 0) throw missing("people", "the request names no person", "name a person or an address");
  if (found.size > peopleMax)
    throw missing("people", `the request names ${found.size} people`, `name at most ${peopleMax}`);
  return { people: [...found.values()], assumptions };
}

interface NamedPeople {
  people: Person[];
  assumption: string | null;
}

async function findNamed(name: string, options: PeopleOptions): Promise<NamedPeople> {
  if (name.includes("@")) return { people: [await addressed(name, options)], assumption: null };
  const found = await findGroup(name, options);
  if (found) return found;
  if (group.test(name)) return ownTeam(name, options);
  const [, at, before] = ofOrganization.exec(name) ?? [];
  const organization = at ?? before;
  if (organization !== undefined) {
    const all = (await options.contacts.searchContacts({ organization, limit: 100 })).items.flatMap(toPerson);
    if (all.length > 0)
      return { people: all, assumption: `${name} is read as ${all.length} contacts of ${organization}` };
  }
  return oneContact(name, options);
}

/** `the sales team` and `sales` mean the group sales. Null: no group has this name. */
async function findGroup(name: string, { groups, contacts }: PeopleOptions): Promise<NamedPeople | null> {
  const all = groups ?? (await contacts.groups?.()) ?? {};
  const group = name.toLowerCase().replace(/^(?:the|my|our) | team$/g, "");
  const people = Object.hasOwn(all, group) ? all[group] : undefined;
  if (!people) return null;
  // The caller has named its groups; those of the contacts can be others than the user means.
  const assumption = groups ? null : `${name} is read as the ${people.length} contacts of the group ${group}`;
  return { people: [...people], assumption };
}

/** `Ana <ana@x>`, or an address alone. The name of a known address comes from the contacts. */
async function addressed(text: string, { contacts }: PeopleOptions): Promise<Person> {
  const [, name = "", address = text] = /^(.*?)\s*<([^<>]+)>$/.exec(text) ?? [];
  const parsed = EmailAddress.safeParse(address.replace(/^mailto:/i, ""));
  if (!parsed.success) throw missing("people", `${JSON.stringify(text)} is not a mail address`, "correct the address");
  const known = name === "" ? (await contacts.validateEmail(parsed.data)).contact?.name : name.replaceAll('"', "");
  return { name: (known ?? "").replace(/[<>\p{Cc}]/gu, ""), address: parsed.data };
}

async function ownTeam(name: string, { contacts, user }: PeopleOptions): Promise<NamedPeople> {
  const domain = user.address.split("@")[1] ?? "";
  const all = (await contacts.searchContacts({ text: domain, limit: 100 })).items.flatMap(toPerson);
  const people = all.filter(({ address }) => address.endsWith(`@${domain}`) && address !== user.address);
  if (people.length === 0) {
    throw missing(
      "people",
      `${JSON.stringify(name)} names no known person: no contact has an address at ${domain}`,
      "name the people",
    );
  }
  return { people, assumption: `${name} is read as the ${people.length} contacts at ${domain}` };
}

/** The full name wins, then the beginning of it. */
async function oneContact(name: string, { contacts }: PeopleOptions): Promise<NamedPeople> {
  const { items } = await contacts.searchContacts({ text: name.slice(0, 200), limit: 10 });
  const reachable = items.filter(({ emails }) => emails.length > 0);
  const simple = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const exact = reachable.filter((contact) => simple(contact.name) === simple(name));
  const named = reachable.filter((contact) =>
    simple(contact.name)
      .split(/\s+/)
      .includes(simple(name).split(/\s+/)[0] ?? ""),
  );
  const fitting = exact.length > 0 ? exact : named.length > 0 ? named : reachable;
  const [contact] = fitting;
  if (!contact) {
    const reason =
      items.length > 0 ? `${name} has no mail address in the contacts` : `no contact is called ${JSON.stringify(name)}`;
    throw missing("people", reason, "use a mail address");
  }
  if (fitting.length > 1) {
    const list = fitting.map((each) => `${each.name} <${each.emails[0]}>`).join(", ");
    throw missing("people", `${JSON.stringify(name)} fits several contacts: ${list}`, "use a full name or an address");
  }
  const assumption = exact.length > 0 ? null : `${name} is read as ${contact.name} <${contact.emails[0]}>`;
  return { people: toPerson(contact), assumption };
}

function toPerson({ name, emails: [address] }: Contact): Person[] {
  return address === undefined ? [] : [{ name: name.replace(/[<>\p{Cc}]/gu, ""), address }];
}
