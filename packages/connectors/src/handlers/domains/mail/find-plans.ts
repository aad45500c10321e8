import { z } from "zod";
import { paramsError } from "../../base/call-failure.ts";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { blockQuote, capitalized, countOf, momentText, oneLine, quoted } from "../../base/wording.ts";
import { FoundMessages, messageLines, messageText, Sender } from "./found-messages.ts";

const limitDefault = 20;
const Range = z.object({ from: z.string(), to: z.string() });
const text = z.string().optional();

const SearchParams = z.object({ text, from: text, unread: z.boolean().optional(), range: Range.optional() });

/** Searches the mailbox. */
export const searchPlan: RequestPlan = {
  expectedFormat: "A list of messages with sender, subject and time.",
  criteria: { messages: "The fitting messages are listed." },
  prepare({ params: { kind, text: words, ...params } }, { request }) {
    const all = [kind, words].filter((each) => typeof each === "string").join(" ");
    const unread = /\bunread\b/i.test(request.task) ? { unread: true } : {};
    return { params: { ...params, ...unread, ...(all === "" ? {} : { text: all }) } };
  },
  *work({ params, read, timeZone }) {
    const { text: words, from, unread, range } = SearchParams.parse(params);
    const args = { text: words, from, unread, since: range?.from, until: range?.to, limit: limitDefault };
    const { messages, next_page } = yield* read(FoundMessages, "gmail_search_messages", args, "Searches the mailbox.");
    const which = `${words === undefined ? "" : ` about ${quoted(words)}`}${from === undefined ? "" : ` from ${oneLine(from)}`}`;
    const kind = unread ? "unread message" : "message";
    if (messages.length === 0) {
      return { summary: `Found no ${kind}s${which}.`, missing: [`No ${kind} fits the search.`] };
    }
    const more = next_page ? "More than " : "";
    return {
      summary: `${capitalized(`${more}${countOf(messages.length, kind)}${which}`)}. The newest is ${messages[0] ? messageText(messages[0], timeZone) : ""}.`,
      details: messageLines(messages, timeZone),
    };
  },
};

const ReadParams = z.object({ id: text, from: text, subject: text });

const WholeMessage = z.object({
  message: z.object({
    subject: z.string(),
    from: Sender,
    sent_at: z.string(),
    body: z.string(),
    attachments: z.array(z.object({ name: z.string() })).default([]),
  }),
});

/** Reads one message: by its id, or the newest that fits. */
export const readPlan: RequestPlan = {
  expectedFormat: "The text of one message with its sender, subject and time.",
  criteria: { message: "The message is read." },
  prepare: ({ params, tools }) => ({ params, tools: params.id === undefined ? tools : ["gmail_get_message"] }),
  *work({ params, read, timeZone }) {
    const { id, from, subject } = ReadParams.parse(params);
    let message_id = id;
    if (message_id === undefined) {
      const folder = from === undefined && subject === undefined ? "inbox" : undefined;
      const args = { from, text: subject, folder, limit: 1 };
      const { messages } = yield* read(FoundMessages, "gmail_search_messages", args, "Finds the message.");
      if (!messages[0]) throw noMessage(from, subject);
      message_id = messages[0].message_id;
    }
    const { message } = yield* read(WholeMessage, "gmail_get_message", { message_id }, "Reads the message.");
    const files = message.attachments.length;
    return {
      summary: `${quoted(message.subject)} is from ${oneLine(message.from)}, of ${momentText(message.sent_at, timeZone)}${files > 0 ? `, with ${countOf(files, "attachment")}` : ""}.`,
      details: blockQuote(message.body),
    };
  },
};

/** No message fits: the request cannot be carried out. */
export function noMessage(from: string | undefined, subject: string | undefined) {
  const which = `${from === undefined ? "" : ` from ${oneLine(from)}`}${subject === undefined ? "" : ` about ${quoted(subject)}`}`;
  return paramsError("message", `no message${which} is in the mailbox`, "use other words, or search first");
}
