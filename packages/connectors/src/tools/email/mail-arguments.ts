import { z } from "zod";
import { mailBodyCharactersMax } from "../../ports/mail.ts";
import { blockText, LineText } from "../../ports/person.ts";
import { PersonText, peopleMax } from "../text/arguments.ts";

const people = z.array(PersonText).max(peopleMax).default([]);

/** Recipients of a mail. */
export const recipientFields = {
  to: people.describe("Addresses, or Name <address>"),
  cc: people,
  bcc: people,
};

export const SubjectText = LineText;
export const BodyText = blockText(mailBodyCharactersMax);

/** Files of a mail. */
export const attachmentField = z.array(z.string().min(1).max(1_000)).max(20).default([]).describe("Workspace paths");
