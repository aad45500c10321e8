import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { bullets, countOf, oneLine, quoted, someOf } from "../../base/wording.ts";
import { contactName, FoundContact } from "./found-contacts.ts";

const limit = 100;

const Organizations = z.object({
  organizations: z.array(z.object({ name: z.string(), domain: z.string().nullish(), contact_count: z.number() })),
  next_page: z.string().nullish(),
});

/** All organizations, or those with a name. */
export const organizationsPlan: RequestPlan = {
  expectedFormat: "A list of organizations with their domains and numbers of contacts.",
  criteria: { organizations: "The organizations are listed." },
  *work({ params, read }) {
    const { text } = z.object({ text: z.string().optional() }).parse(params);
    const { organizations, next_page } = yield* read(Organizations, "contacts_list_organizations", { text, limit });
    const which = text === undefined ? "" : ` that begin with ${quoted(text)}`;
    if (organizations.length === 0) return { summary: `Found no organizations${which}.` };
    const names = someOf(organizations.map(({ name }) => oneLine(name)));
    return {
      summary: `${next_page ? "Found more than" : "Found"} ${countOf(organizations.length, "organization")}${which}: ${names}.`,
      details: bullets(
        organizations.map(({ name, domain, contact_count }) => {
          const at = domain ? ` (${oneLine(domain)})` : "";
          return `${oneLine(name)}${at}: ${countOf(contact_count, "contact")}`;
        }),
      ),
    };
  },
};

const EmailCheck = z.object({
  email: z.string(),
  valid: z.boolean(),
  reason: z.string().nullish(),
  contact: FoundContact.nullish(),
  suggestion: z.string().nullish(),
});

/** Whether an address can exist, and whose it is. */
export const emailCheckPlan: RequestPlan = {
  expectedFormat: "Whether the address is valid, and the contact with it or a similar one.",
  criteria: { valid: "The address is checked." },
  prepare: ({ params }) => ({ params: { ...params, email: String(params.email).replace(" at ", "@") } }),
  *work({ params, read }) {
    const { email } = z.object({ email: z.string() }).parse(params);
    const check = yield* read(EmailCheck, "contacts_validate_email", { email });
    const address = oneLine(check.email);
    const similar = check.suggestion ? ` Did you mean ${oneLine(check.suggestion)}?` : "";
    if (!check.valid) {
      return `${address} is not a valid address${check.reason ? `: ${oneLine(check.reason)}` : ""}.${similar}`;
    }
    if (check.contact) return `${address} is valid: it is the address of ${contactName(check.contact)}.`;
    return {
      summary: `${address} has a valid form, but no contact has it.${similar}`,
      missing: [`It is not known whether ${address} receives mail.`],
    };
  },
};
