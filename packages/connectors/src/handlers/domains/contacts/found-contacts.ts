import { z } from "zod";
import { bullets, listOf, oneLine } from "../../base/wording.ts";

/** A contact in the output of a tool. */
export const FoundContact = z.object({
  contact_id: z.string(),
  name: z.string(),
  emails: z.array(z.string()).default([]),
  phones: z.array(z.string()).default([]),
  organization: z.string().nullish(),
  title: z.string().nullish(),
});
export type FoundContact = z.output<typeof FoundContact>;

export const FoundContacts = z.object({ contacts: z.array(FoundContact), next_page: z.string().nullish() });

/** The name, or the address of a contact without one. */
export function contactName({ name, emails }: FoundContact): string {
  return oneLine(name === "" ? (emails[0] ?? "a contact without a name") : name);
}

/** A contact in a sentence: the name and the role, and how to reach it. */
export function contactText(contact: FoundContact): string {
  const role = [contact.title, contact.organization].flatMap((each) => (each ? [oneLine(each)] : []));
  const reach = [...contact.emails, ...contact.phones].map((each) => oneLine(each));
  const who = `${contactName(contact)}${role.length === 0 ? "" : ` (${role.join(", ")})`}`;
  return reach.length === 0 ? who : `${who}: ${listOf(reach)}`;
}

export function contactLines(contacts: readonly FoundContact[]): string {
  return bullets(contacts.map(contactText));
}

/** For the missing data of an answer. */
export function unreachable(contacts: readonly FoundContact[]): string[] {
  const names = contacts.filter(({ emails }) => emails.length === 0).map(contactName);
  return names.length === 0 ? [] : [`The contacts have no mail address of ${listOf(names)}.`];
}
