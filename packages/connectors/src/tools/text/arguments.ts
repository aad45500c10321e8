import { z } from "zod";
import { EmailAddress, Person } from "../../ports/person.ts";

/** `ana@acme.example`, or `Ana Silva <ana@acme.example>`. */
export const PersonText = z
  .string()
  .max(500)
  .transform((text, issues): Person => {
    const [, quoted = "", bracketed] = /^\s*(.*?)\s*<([^<>]*)>\s*$/s.exec(text) ?? [];
    const name = quoted.replace(/^"(.*)"$/s, "$1");
    const parsed = Person.safeParse({ name: bracketed === undefined ? "" : name, address: bracketed ?? text });
    if (parsed.success) return parsed.data;
    for (const { message } of parsed.error.issues) issues.addIssue({ code: "custom", message, input: text });
    return z.NEVER;
  });

/** An address alone. */
export const Address = EmailAddress;

const datePattern = /^\d{4}-\d{2}-\d{2}$/;

/** A time with an offset. A date is its first moment in UTC. */
export const Instant = z
  .string()
  .max(40)
  .transform((text) => (datePattern.test(text.trim()) ? `${text.trim()}T00:00:00Z` : text.trim()))
  .pipe(z.iso.datetime({ offset: true, error: "is not a time with an offset, such as 2026-03-03T14:00:00Z" }));

/** Fields of every list. */
export const pageArguments = (limitDefault: number) => ({
  limit: z.int().min(1).max(100).default(limitDefault),
  page: z.string().max(500).nullable().default(null).describe("next_page of the result before"),
});

/** The longest list of people in one call. */
export const peopleMax = 100;

/** An id of an earlier result. */
export const ItemId = z
  .string()
  .min(1, "is empty")
  .max(500)
  .refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), "contains a control character");

/** `Ana Silva <ana@acme.example>`. A name that looks like an address is left out, because it could be another one. */
export function personText({ name, address }: Person): string {
  return name === "" || name.includes("@") ? address : `${name} <${address}>`;
}
