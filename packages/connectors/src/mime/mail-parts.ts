import type { Address, Email } from "postal-mime";
import { type Person, toLine } from "../ports/person.ts";
import { htmlToText } from "./html-text.ts";

/** Limits for mail of any origin. */
export const parseLimits = { maxHeadersSize: 1_000_000, maxNestingDepth: 50 };
const recipientsMax = 1_000;

export const unknownSender: Person = { name: "Unknown sender", address: "unknown@unknown.invalid" };

/** Addresses with an @. A name can hold anything; it stays on one line. */
export function peopleIn(addresses: readonly Address[]): Person[] {
  return addresses
    .flatMap((each) => each.group ?? [each])
    .filter(({ address }) => /^[^\s@]+@[^\s@]+$/.test(address ?? ""))
    .slice(0, recipientsMax)
    .map(({ name, address }) => ({ name: toLine(name, 200), address: toLine(address, 254).toLowerCase() }));
}

/** The plain text, or the text of the HTML. */
export async function bodyOf({ text, html }: Pick<Email, "text" | "html">): Promise<string> {
  const plain = (text ?? "").replaceAll("\0", "");
  return plain.trim() !== "" || html === undefined ? plain : (await htmlToText(html)).replaceAll("\0", "");
}
