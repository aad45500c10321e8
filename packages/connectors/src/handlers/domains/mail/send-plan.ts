import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { quoted } from "../../base/wording.ts";
import { fewPeopleMax, type OfficeScope } from "../office-scope.ts";
import { namesOf, People, personLine } from "../people-text.ts";
import { deliveryDetails, deliverySentence, readDelivery, SentMail, undelivered } from "./delivery.ts";
import { completeMail } from "./mail-text.ts";

const Params = z.object({ to: People, subject: z.string(), body: z.string() });

/** Sends a mail, and looks after its delivery. */
export const sendPlan = (scope: OfficeScope): RequestPlan => ({
  expectedFormat: "A confirmation with the recipients and the delivery to each of them.",
  criteria: { message_id: "The mail is sent.", delivery_status: "Its delivery is known." },
  async prepare(reading, { request }) {
    const to = People.parse(reading.params.to);
    const { assumptions, ...content } = completeMail(reading.params, to, await scope.user(request));
    const external = await scope.externalOf(request, to);
    return {
      params: { ...reading.params, ...content },
      risk: external.length > 0 || to.length > fewPeopleMax ? "high" : reading.risk,
      assumptions,
      notes: external.length > 0 ? [`Recipients outside of the own domains: ${namesOf(external)}.`] : [],
    };
  },
  *work({ params, read }) {
    const { to, subject, body } = Params.parse(params);
    const args = { to: to.map(personLine), subject, body };
    const sent = yield* read(SentMail, "gmail_send_email", args, `Sends the mail to ${namesOf(to)}.`);
    const delivery = yield* readDelivery(sent);
    return {
      summary: `Sent ${quoted(subject)} to ${namesOf(to)}. ${deliverySentence(delivery.delivery)}`,
      details: deliveryDetails(delivery.delivery, to),
      missing: [...delivery.missing, ...undelivered(delivery.delivery)],
    };
  },
});
