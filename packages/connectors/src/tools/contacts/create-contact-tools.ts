import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { Contact } from "../../ports/contacts.ts";
import { readingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { ItemId, pageArguments } from "../text/arguments.ts";

/** The tools of the domain contacts. The address book is private; its owner wrote it. */
export function createContactTools(deps: OfficeToolDeps): Tool[] {
  return [searchContacts(deps), getContact(deps), listOrganizations(deps), validateEmail(deps)];
}

const source = (account: string) => [`contacts <${account}>`];

function searchContacts(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "contacts",
      name: "contacts_search",
      description: "Searches the contacts, sorted by name. All given fields must match.",
      input: z.strictObject({
        text: z
          .string()
          .max(200)
          .default("")
          .describe("Beginnings of words of the name, address, title or organization"),
        organization: z.string().max(200).default(""),
        ...pageArguments(25),
      }),
      async run({ text, organization, limit, page }, call) {
        const contacts = await call.connect("contacts");
        const query = { text, organization, limit, cursor: page };
        const found = await contacts.call((port) => port.searchContacts(query));
        const output = { contacts: found.items.map(contactOutput), next_page: found.nextCursor };
        return { output, private: source(contacts.account) };
      },
    },
    deps,
  );
}

function getContact(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "contacts",
      name: "contacts_get_by_id",
      description: "Reads one contact.",
      input: z.strictObject({ contact_id: ItemId }),
      async run({ contact_id }, call) {
        const contacts = await call.connect("contacts");
        const contact = await contacts.call((port) => port.getContact(contact_id));
        return { output: { contact: contactOutput(contact) }, private: source(contacts.account) };
      },
    },
    deps,
  );
}

function listOrganizations(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "contacts",
      name: "contacts_list_organizations",
      description: "Lists the organizations of the contacts, sorted by name.",
      input: z.strictObject({
        text: z.string().max(200).default("").describe("Beginnings of words of the name"),
        ...pageArguments(25),
      }),
      async run({ text, limit, page }, call) {
        const contacts = await call.connect("contacts");
        const found = await contacts.call((port) => port.listOrganizations({ text, limit, cursor: page }));
        const organizations = found.items.map(({ name, domain, contactCount }) => ({
          ...{ name, domain, contact_count: contactCount },
        }));
        return { output: { organizations, next_page: found.nextCursor }, private: source(contacts.account) };
      },
    },
    deps,
  );
}

function validateEmail(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "contacts",
      name: "contacts_validate_email",
      description: "Checks the form of an address and compares it with the contacts. No mail is sent.",
      input: z.strictObject({ email: z.string().max(1_000) }),
      async run({ email }, call) {
        const contacts = await call.connect("contacts");
        const check = await contacts.call((port) => port.validateEmail(email));
        const { isValid, reason, contact, suggestion } = check;
        const known = contact && contactOutput(contact);
        const output = { email: check.address, valid: isValid, reason, contact: known, suggestion };
        return { output, private: source(contacts.account) };
      },
    },
    deps,
  );
}

function contactOutput({ id, name, emails, phones, organization, title, note }: Contact) {
  return { contact_id: id, name, emails, phones, organization, title, note };
}
