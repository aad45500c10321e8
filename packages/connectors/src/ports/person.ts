import { z } from "zod";

/** Line breaks and other control characters. In a header of a mail they would begin a header of the attacker's choice. */
const controlCharacters = /[\p{Cc}\u2028\u2029]/u;

/** One line of text without control characters, such as a subject or a title. */
export const LineText = z
  .string()
  .max(998, "is longer than 998 characters")
  .refine((text) => !controlCharacters.test(text), "contains a line break or another control character");

/** Text with line breaks, but without other control characters. */
export const blockText = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax, `is longer than ${charactersMax} characters`)
    .refine((text) => !text.includes("\0"), "contains a NUL character");

/** A mail address such as `ana@acme.example`, in lower case. */
export const EmailAddress = z
  .string()
  .max(254, "is longer than 254 characters")
  .trim()
  .toLowerCase()
  .pipe(z.email({ error: ({ input }) => `${JSON.stringify(input)} is not a mail address` }));

/** The name and mail address of a person. */
export const Person = z.strictObject({
  name: LineText.max(200)
    .refine((name) => !/[<>]/.test(name), "contains < or >")
    .default(""),
  address: EmailAddress,
});
export type Person = z.infer<typeof Person>;

/**
 * Replaces control characters and folds spaces: for lines that come from files and servers.
 *
 * @example
 * toLine("Hello\r\nBcc: eve@evil.example"); // "Hello Bcc: eve@evil.example"
 */
export function toLine(text: string, charactersMax = 998): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029\s]+/gu, " ")
    .trim()
    .slice(0, charactersMax);
}
