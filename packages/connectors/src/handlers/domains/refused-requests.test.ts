/** Requests that cannot be carried out end with a reason and the next step, and change nothing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { IntentDomain } from "../../intents/pattern-file.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import { type Driver, openDriver } from "../office-driver.test-helper.ts";

let office: Driver;

beforeAll(async () => {
  office = await openDriver();
});
afterAll(() => office.close());

describe("before any tool runs", () => {
  it.each<[IntentDomain, string, RegExp]>([
    ["calendar", "Schedule a meeting with Zoe tomorrow at 10", /no contact is called "Zoe"; use a mail address/],
    [
      "calendar",
      "Schedule a call with Mara on 1 March 2026 at 10am",
      /Sunday, 1 March 2026, 10:00 .* has passed; name a time in the future/,
    ],
    [
      "calendar",
      "Schedule a meeting with Mara on 29 March at 2:30am",
      /02:30 does not exist on 2026-03-29 .*use 03:30/,
    ],
    ["calendar", "Schedule a meeting with Mara", /names no time; add a day and a time/],
    ["calendar", "Schedule a meeting with Mara on Friday", /but no time; add a time such as/],
    ["calendar", "Cancel the meeting", /does not say which event; name its title/],
    ["calendar", "Move the design review to the moon", /names no new time; add a day or a time/],
    ["gmail", "Send an email to bob@ about lunch", /"bob@" is not a mail address; correct the address/],
    ["gmail", "Send an email to Mara", /names no subject and no text; add them/],
    ["gmail", "save a draft", /says nothing about the draft; name a recipient/],
    ["slack", "post in #project-alpha", /names no text/],
  ])("%s: %s", async (handler, task, message) => {
    const { intent, error, turns } = await office.drive(handler, task);
    expect(error).toMatchObject({ type: "params", recoverable: false, tool: intent.tools[0] });
    expect(error?.message).toMatch(message);
    expect(turns).toEqual([]);
  });
});

describe("after a look", () => {
  it.each<[IntentDomain, string, number, RegExp]>([
    [
      "calendar",
      "Schedule a meeting with Mara next Tuesday at 10am",
      2,
      /^you and Mara Lindqvist are busy on Tuesday, 10 March 2026, 10:00–11:00 \(Europe\/Berlin\); the next free times are: Tuesday, 10 March 2026, 11:00–12:00 .* say “even if busy”$/,
    ],
    ["calendar", "Move the design review to Tuesday at 10am", 3, /busy on Tuesday, 10 March 2026, 10:00–11:00/],
    [
      "calendar",
      "Delete the event on Friday",
      1,
      /^several events fit: “Standup” on Friday, 6 March 2026, .*; “Project Alpha: beta” on Friday, .*name the title and the day of one$/,
    ],
    [
      "calendar",
      "Cancel the yoga session",
      1,
      /^no event fits “yoga session” in that time; name its title or its day$/,
    ],
    ["gmail", "Reply to Zoe: hi", 1, /^no message from Zoe is in the mailbox/],
    ["slack", "Summarize #nothing", 1, /^no channel is called #nothing/],
  ])("%s: %s", async (handler, task, turnCount, message) => {
    const { error, turns } = await office.drive(handler, task);
    expect(error).toMatchObject({ type: "params", recoverable: false });
    expect(error?.message).toMatch(message);
    expect(turns).toHaveLength(turnCount);
    expect(turns.flat().join()).not.toMatch(/create_event|update_event|delete_event|reply|post/);
  });

  it("a busy time is taken if the words say so, and the answer names the conflict", async () => {
    const { answer, turns } = await office.drive(
      "calendar",
      "Schedule a meeting with Mara next Tuesday at 10am even if busy",
    );
    expect(turns).toEqual([["calendar_check_availability"], ["calendar_create_event"]]);
    expect(answer?.summary).toContain(
      "You wanted it although you and Mara Lindqvist are busy on Tuesday, 10 March 2026",
    );
  });

  it("people outside have no known times, and the answer says so", async () => {
    const { intent, answer } = await office.drive("calendar", "Schedule a call with John on Friday at 4pm");
    expect(intent.risk).toBe("high");
    expect(answer?.missing).toEqual(["Nothing is known about the free time of John Carver."]);
    expect(answer?.confidence).toBeLessThan(0.75);
  });
});

describe("a failed call", () => {
  it.each([
    ["auth", "the access was revoked", false],
    ["rate_limit", "too many calls", true],
    ["network", "no route to the server", true],
    ["permission", "the account may not search", false],
    ["tool_error", "the server is confused", false],
  ] as const)("of the type %s ends the work with its type and its tool", async (type, message, recoverable) => {
    const { requestOf, stateOf, handlers } = office;
    const [gmail] = handlers;
    const task = "Search emails about the budget";
    const intent = await gmail?.assess(requestOf(task));
    if (!intent) throw new Error("no pattern fits");
    const output = { error: { type, message, retry_after: 3 } };
    const result = { tool: "gmail_search_messages", args: {}, ok: false, output, text: JSON.stringify(output) };
    const step = await gmail?.next({ ...stateOf(task, intent), results: [result], turnsLeft: 2 });
    const isPassing = ["auth", "rate_limit", "network"].includes(type);
    expect(step).toEqual({
      kind: "failure",
      error: {
        type,
        message,
        tool: "gmail_search_messages",
        recoverable: recoverable || isPassing,
        retryAfterMs: 3_000,
      },
    });
  });

  it("to check the delivery does not hide that the mail was sent", async () => {
    const wrapped = await openDriver({
      wrap: (connectors) => ({
        ...connectors,
        mail: {
          ...connectors.mail,
          deliveryStatus: () => Promise.reject(new ConnectorError("tool_error", "the server is away")),
        },
      }),
    });
    const { answer, error } = await wrapped.drive("gmail", "Send an email to Mara about lunch saying at noon");
    expect(error).toBeNull();
    expect(answer?.summary).toBe("Sent “Lunch” to Mara Lindqvist. It was delivered.");
    expect(answer?.missing).toEqual(["The delivery could not be checked: the server is away."]);
    await wrapped.close();
  });
});

describe("a domain that is not connected", () => {
  const broken = (name: "calendar" | "contacts" | "mail") =>
    openDriver({
      wrap: (connectors) =>
        Object.defineProperty({ ...connectors }, name, {
          get() {
            throw new ConnectorError("auth", `${name} is not connected`);
          },
        }),
    });

  it.each<["calendar" | "contacts" | "mail", IntentDomain, string]>([
    ["calendar", "gmail", "Search emails about the budget"],
    ["contacts", "gmail", "Search emails about the budget"],
    ["mail", "calendar", "block an hour tomorrow at 10am for writing"],
    ["calendar", "slack", "Summarize #project-alpha"],
  ])("%s: %s still works", async (name, handler, task) => {
    const driver = await broken(name);
    const { error, answer } = await driver.drive(handler, task);
    expect(error).toBeNull();
    expect(answer?.summary).not.toBe("");
    await driver.close();
  });

  it("is the problem of its own requests", async () => {
    const driver = await broken("mail");
    const { error, turns } = await driver.drive("gmail", "Search emails about the budget");
    expect(error).toMatchObject({ type: "auth", message: "mail is not connected", tool: "gmail_search_messages" });
    expect(turns).toEqual([]);
    await driver.close();
  });
});
