import { z } from "zod";
import { paramsError } from "../../base/call-failure.ts";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { capitalized, quoted } from "../../base/wording.ts";
import type { OfficeScope } from "../office-scope.ts";
import { namesOf, People, personLine } from "../people-text.ts";
import { completeMail } from "./mail-text.ts";

const Params = z.object({ to: People.default([]), subject: z.string().optional(), body: z.string().optional() });

/** Stores a draft. It is never sent. */
export const draftPlan = (scope: OfficeScope): RequestPlan => ({
  expectedFormat: "A confirmation with the draft's recipients and subject.",
  criteria: { draft_id: "The draft is stored." },
  async prepare({ params }, { request }) {
    const to = People.parse(params.to ?? []);
    if (params.subject === undefined && params.body === undefined) {
      if (to.length > 0) return { params, assumptions: ["no subject and no text is named, so both are empty"] };
      throw paramsError("to", "the request says nothing about the draft", "name a recipient, a subject or a text");
    }
    const { assumptions, ...content } = completeMail(params, to, await scope.user(request));
    return { params: { ...params, ...content }, assumptions };
  },
  *work({ params, call }) {
    const { to, subject, body } = Params.parse(params);
    yield* call("gmail_create_draft", { to: to.map(personLine), subject, body }, "Stores the draft.");
    const about = subject === undefined ? "" : ` ${quoted(capitalized(subject))}`;
    const whom = to.length === 0 ? "" : ` to ${namesOf(to)}`;
    return { summary: `Saved the draft${about}${whom}. It was not sent.` };
  },
});
