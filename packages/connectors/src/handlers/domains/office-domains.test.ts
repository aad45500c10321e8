/** Every pattern of the office, from its intent over the real tools to its answer. It is Wednesday, 4 March 2026, 13:00 in Berlin. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type IntentDomain, intentDomains, patternsOf } from "../../intents/pattern-file.ts";
import { type Driver, openDriver } from "../office-driver.test-helper.ts";

const user = { name: "Kim Berg", address: "kim@lantern.example" };
let office: Driver;

beforeAll(async () => {
  office = await openDriver({ user });
});
afterAll(() => office.close());

const MessageIds = z.object({ messages: z.array(z.object({ message_id: z.string() })) });
const ContactIds = z.object({ contacts: z.array(z.object({ contact_id: z.string() })) });

type Row = [handler: IntentDomain, pattern: string, task: string, turns: string, summary: RegExp];

/** Reading rows come first in each domain, so that changes of others do not show. */
const rows: Row[] = [
  [
    "gmail",
    "search",
    "Search emails about the budget",
    "gmail_search_messages",
    /^2 messages about “the budget”\. The newest is “Re: Budget for the next quarter” from Mara Lindqvist of Friday, 27 February 2026, /,
  ],
  ["gmail", "search", "Find emails from Zoe", "gmail_search_messages", /^Found no messages from Zoe\.$/],
  ["gmail", "search", "Show me unread emails", "gmail_search_messages", /^3 unread messages\./],
  [
    "gmail",
    "read",
    "Read the latest email from John",
    "gmail_search_messages > gmail_get_message",
    /^“Re: Contract renewal” is from John Carver, of Friday, 27 February 2026/,
  ],
  [
    "gmail",
    "send",
    "Send an email to Mara about the beta saying we ship on Friday.",
    "gmail_send_email > gmail_get_delivery_status",
    /^Sent “The beta” to Mara Lindqvist\. It was delivered\.$/,
  ],
  [
    "gmail",
    "send",
    "Tell Mara by email that the build is ready",
    "gmail_send_email > gmail_get_delivery_status",
    /^Sent “The build is ready” to Mara Lindqvist\. It was delivered\.$/,
  ],
  [
    "gmail",
    "reply",
    "Reply to the last email from John: the offer is on its way",
    "gmail_search_messages > gmail_reply_to_message > gmail_get_delivery_status",
    /^Replied to “Re: Contract renewal” from John Carver .*\. It stays in the local outbox/,
  ],
  [
    "gmail",
    "draft",
    "Draft an email to Mara about the beta",
    "gmail_create_draft",
    /^Saved the draft “The beta” to Mara Lindqvist\. It was not sent\.$/,
  ],
  [
    "gmail",
    "delivery-status",
    "Was my email to Mara delivered?",
    "gmail_search_messages > gmail_get_delivery_status",
    /^The newest mail to Mara Lindqvist of Wednesday, 4 March 2026, 13:00: it was delivered\.$/,
  ],
  [
    "calendar",
    "list",
    "List my meetings this week",
    "calendar_list_events",
    /^You have 13 events from Monday, 2 March 2026 to Sunday, 8 March 2026\.$/,
  ],
  [
    "calendar",
    "list",
    "When is my next meeting?",
    "calendar_list_events",
    /^The next event is “1:1 with Mara”, on Wednesday, 4 March 2026, 14:00–14:30 \(Europe\/Berlin\)\.$/,
  ],
  [
    "calendar",
    "availability",
    "Is Mara free tomorrow at 10?",
    "calendar_check_availability",
    /^Mara Lindqvist is free on Thursday, 5 March 2026, 10:00–11:00 \(Europe\/Berlin\)\.$/,
  ],
  [
    "calendar",
    "availability",
    "Am I free on Friday morning?",
    "calendar_check_availability",
    /^You are not free the whole time on Friday, 6 March 2026, 06:00–12:00/,
  ],
  [
    "calendar",
    "availability",
    "Find a free slot with Priya this week",
    "calendar_check_availability",
    /^You and Priya Raman are free on Wednesday, 4 March 2026, 13:00–14:00 \(Europe\/Berlin\), and at other times\.$/,
  ],
  [
    "calendar",
    "create",
    "Schedule a call with Mara on Friday at 3pm about the contract",
    "calendar_check_availability > calendar_create_event",
    /^Scheduled “Call about the contract” with Mara Lindqvist for Friday, 6 March 2026, 15:00–16:00 \(Europe\/Berlin\)\. No conflict was found\.$/,
  ],
  [
    "calendar",
    "create",
    "Plan a sync every Monday at 16:00 with Mara",
    "calendar_check_availability > calendar_create_event",
    /^Scheduled “Sync with Mara” with Mara Lindqvist for Monday, 9 March 2026, 16:00–17:00 \(Europe\/Berlin\), every week on Monday\./,
  ],
  [
    "calendar",
    "block",
    "block two hours tomorrow at 10am for writing",
    "calendar_check_availability > calendar_create_event",
    /^Scheduled “Writing” for Thursday, 5 March 2026, 10:00–12:00 \(Europe\/Berlin\)\. No conflict was found\.$/,
  ],
  [
    "calendar",
    "update",
    "rename the dentist appointment to Teeth",
    "calendar_list_events > calendar_update_event",
    /^Renamed “Dentist” to “Teeth”\.$/,
  ],
  [
    "calendar",
    "update",
    "Move the standup to 8:00",
    "calendar_list_events > calendar_check_availability > calendar_update_event",
    /^Moved “Standup” from Thursday, 5 March 2026, 09:15–09:30 \(Europe\/Berlin\) to Thursday, 5 March 2026, 08:00–08:15/,
  ],
  [
    "calendar",
    "delete",
    "Cancel the trip to London event",
    "calendar_list_events > calendar_delete_event",
    /^Deleted “Trip to London” of Monday, 23 March 2026 to Wednesday, 25 March 2026\.$/,
  ],
  ["contacts", "by-organization", "Find people at Initech", "contacts_search", /^Found no contacts at Initech\.$/],
  [
    "contacts",
    "by-organization",
    "Who works at Globex?",
    "contacts_search",
    /^Found 2 contacts at Globex: Carl Jensen and Nadia Petrova\.$/,
  ],
  [
    "contacts",
    "by-name",
    "What is Ruth's email address?",
    "contacts_search",
    /^Ruth Okafor \(Head of Sales, Lantern Works\): ruth@lantern\.example and \+49/,
  ],
  [
    "contacts",
    "organizations",
    "List all organizations",
    "contacts_list_organizations",
    /^Found 5 organizations: Acme Corp, Bluebird Travel, Globex, Lantern Works and Northgate Hosting\.$/,
  ],
  [
    "contacts",
    "validate-email",
    "Is jon@acme.example a valid email address?",
    "contacts_validate_email",
    /^jon@acme\.example has a valid form, but no contact has it\. Did you mean john@acme\.example\?$/,
  ],
  [
    "slack",
    "messages",
    "Show messages in #general",
    "slack_get_channel_messages",
    /^#general has 3 messages in the last 7 days\.$/,
  ],
  [
    "slack",
    "search",
    "Search for beta in #project-alpha",
    "slack_search_messages",
    /^3 messages about “beta” in #project-alpha\. The newest is by Mara Lindqvist on Wednesday, 4 March 2026/,
  ],
  [
    "slack",
    "user",
    "Who is @jonas?",
    "slack_get_user_info",
    /^Jonas Weber \(@jonas\): Mobile Engineer, jonas@lantern\.example, time zone Europe\/Berlin\.$/,
  ],
  [
    "slack",
    "post",
    "tell #general that lunch is at noon",
    "slack_post_message",
    /^Posted in #general: “Lunch is at noon”\.$/,
  ],
];

describe("a request", () => {
  it.each(rows)("%s %s: %s", async (handler, pattern, task, turns, summary) => {
    const { intent, answer, error, ...driven } = await office.drive(handler, task);
    expect(error).toBeNull();
    expect(intent.params.pattern).toBe(pattern);
    expect(intent.tools).toEqual([...new Set(driven.turns.flat())]);
    expect(driven.turns.map((tools) => tools.join("+")).join(" > ")).toBe(turns);
    expect(answer?.summary).toMatch(summary);
  });

  it("of a thread or of a contact is named by an id of an earlier answer", async () => {
    const { results } = await office.drive("slack", "Show messages in #support");
    const { messages } = MessageIds.parse(results[0]?.output);
    const thread = await office.drive("slack", `Show the replies to ${messages[0]?.message_id} in #support`);
    expect(thread.intent.params.pattern).toBe("thread");
    expect(thread.answer?.summary).toMatch(/^2 replies to the message of Omar Haddad on .*, in #support\.$/);
    const found = await office.drive("contacts", "Find John in my contacts");
    const { contacts } = ContactIds.parse(found.results[0]?.output);
    const read = await office.drive("contacts", `Get contact ${contacts[0]?.contact_id}`);
    expect(read.intent.params.pattern).toBe("by-id");
    expect(read.answer?.summary).toMatch(/^John Carver \(Procurement Manager, Acme Corp\): john@acme\.example/);
  });

  it.each(intentDomains)("of %s is tried for every pattern", (domain) => {
    const tried = new Set(rows.filter(([handler]) => handler === domain).map(([, pattern]) => pattern));
    const byId = new Set(["thread", "by-id", "summarize"]);
    const missing = patternsOf(domain).patterns.filter(({ name }) => !tried.has(name) && !byId.has(name));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it("without a pattern goes to the model", async () => {
    expect(await office.driveOrNull("gmail", "Write a poem about mail")).toBeNull();
  });
});

describe("no summary", () => {
  it("has JSON or a time of a machine", async () => {
    for (const [handler, , task] of rows.filter(([, pattern]) => /search|list|messages|by-|read/.test(pattern))) {
      const { answer } = await office.drive(handler, task);
      expect(`${answer?.summary}${answer?.details}`).not.toMatch(/\d\dT\d\d:|[{[]"|undefined|\[object/);
    }
  });
});
