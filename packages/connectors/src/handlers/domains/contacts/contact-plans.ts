import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { capitalized, countOf, oneLine, quoted, someOf } from "../../base/wording.ts";
import { contactLines, contactName, contactText, FoundContact, FoundContacts, unreachable } from "./found-contacts.ts";

const limit = 50;

/** The people of an organization. */
export const organizationPlan: RequestPlan = {
  expectedFormat: "A list of contacts with names, roles, mail addresses and phone numbers.",
  criteria: { contacts: "The contacts of the organization are listed." },
  *work({ params, read }) {
    const { organization } = z.object({ organization: z.string() }).parse(params);
    const { contacts, next_page } = yield* read(FoundContacts, "contacts_search", { organization, limit });
    const where = oneLine(contacts[0]?.organization ?? organization);
    if (contacts.length === 0) {
      return { summary: `Found no contacts at ${where}.`, missing: [`The contacts have no person at ${where}.`] };
    }
    const names = someOf(contacts.map(contactName));
    return {
      summary: `${next_page ? "Found more than" : "Found"} ${countOf(contacts.length, "contact")} at ${where}: ${names}.`,
      details: contactLines(contacts),
      missing: unreachable(contacts),
    };
  },
};

/** A person by name. */
export const nameSearchPlan: RequestPlan = {
  expectedFormat: "The contacts with that name, with their mail addresses and phone numbers.",
  criteria: { contacts: "The contacts with that name are listed." },
  *work({ params, read }) {
    const { name } = z.object({ name: z.string() }).parse(params);
    const { contacts } = yield* read(FoundContacts, "contacts_search", { text: name, limit });
    const [first, ...others] = contacts;
    if (!first) {
      return {
        summary: `Found no contact called ${quoted(name)}.`,
        missing: [`The contacts have no ${oneLine(name)}.`],
      };
    }
    if (others.length === 0) return { summary: `${contactText(first)}.`, missing: unreachable(contacts) };
    return {
      summary: `${capitalized(countOf(contacts.length, "contact"))} fit ${quoted(name)}: ${someOf(contacts.map(contactName))}.`,
      details: contactLines(contacts),
      missing: unreachable(contacts),
    };
  },
};

/** A contact by its id. */
export const contactPlan: RequestPlan = {
  expectedFormat: "One contact with its mail addresses and phone numbers.",
  criteria: { contact: "The contact is read." },
  *work({ params, read }) {
    const { id } = z.object({ id: z.string() }).parse(params);
    const { contact } = yield* read(z.object({ contact: FoundContact }), "contacts_get_by_id", { contact_id: id });
    return { summary: `${contactText(contact)}.`, missing: unreachable([contact]) };
  },
};
