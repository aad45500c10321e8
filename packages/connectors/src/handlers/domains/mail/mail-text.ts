import type { Person } from "../../../ports/person.ts";
import { paramsError } from "../../base/call-failure.ts";
import type { JsonObject } from "../../base/request-work.ts";
import { capitalized, listOf, oneLine, quoted } from "../../base/wording.ts";
import { firstName } from "../people-text.ts";

const namedMax = 3;
const subjectCharactersMax = 60;

/** The subject and the text of a mail. A missing one comes from the other, and the answer says so. */
export function completeMail(
  { subject, body }: JsonObject,
  to: readonly Person[],
  user: Person,
): { subject: string; body: string; assumptions: string[] } {
  if (typeof body === "string") {
    if (typeof subject === "string") return { subject: capitalized(subject), body, assumptions: [] };
    const first = oneLine(body.split(/(?<=[.!?])\s|\n/)[0] ?? "", subjectCharactersMax).replace(/[.]$/, "");
    const taken = capitalized(first);
    return { subject: taken, body, assumptions: [`no subject is named, so it is ${quoted(taken)}, from the text`] };
  }
  if (typeof subject !== "string") {
    throw paramsError(
      "body",
      "the request names no subject and no text",
      "add them, such as `about lunch saying at noon`",
    );
  }
  const title = capitalized(subject);
  return {
    subject: title,
    body: `${greetingOf(to)}\n\nthis mail is about: ${title}.\n\nBest regards${user.name === "" ? "" : `\n${user.name}`}`,
    assumptions: [`no text is named, so the mail only says that it is about ${quoted(title)}`],
  };
}

function greetingOf(to: readonly Person[]): string {
  const known = to.filter(({ name }) => name !== "");
  return known.length === to.length && to.length > 0 && to.length <= namedMax
    ? `Hello ${listOf(to.map(firstName))},`
    : "Hello,";
}
