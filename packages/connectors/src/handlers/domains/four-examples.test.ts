/** The four requests by which the domains are explained, in the sample office. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Driver, openDriver } from "../office-driver.test-helper.ts";

let office: Driver;

beforeEach(async () => {
  office = await openDriver({ user: { name: "Kim Berg", address: "kim@lantern.example" } });
});
afterEach(() => office.close());

it("a project update goes to two people outside, and its delivery is checked", async () => {
  const task = "Send project update to john@acme.example and sarah@client.example";
  const { intent, turns, answer, notes, results } = await office.drive("gmail", task);
  expect(intent).toMatchObject({
    tools: ["gmail_send_email", "gmail_get_delivery_status"],
    risk: "high",
    params: { pattern: "send", subject: "Project update", body: expect.stringContaining("Project update") },
    expectedFormat: expect.stringContaining("confirmation"),
    successCriteria: "The mail is sent. Its delivery is known.",
  });
  expect(intent.errorPlan).toHaveLength(6);
  expect(intent.notes).toEqual(
    expect.arrayContaining([
      "Recipients outside of the own domains: John Carver and sarah@client.example.",
      "The account kim@lantern.example is connected, and may write.",
    ]),
  );
  expect(turns).toEqual([["gmail_send_email"], ["gmail_get_delivery_status"]]);
  expect(notes).toEqual([
    "Sends the mail to John Carver and sarah@client.example.",
    "Checks the delivery. So far 2 of 2 success criteria are met.",
  ]);
  expect(results[0]?.args).toMatchObject({ to: ["John Carver <john@acme.example>", "sarah@client.example"] });
  expect(answer).toEqual({
    summary:
      "Sent “Project update” to John Carver and sarah@client.example. Both mails stay in the local outbox, which sends nothing to other servers.",
    details: expect.stringContaining("- John Carver <john@acme.example>: kept in the outbox"),
    assumptions: ["no text is named, so the mail only says that it is about “Project update”"],
    missing: [],
    confidence: 0.95,
  });
});

it("a team meeting is created after a look for conflicts", async () => {
  const { intent, turns, answer } = await office.drive("calendar", "Schedule a meeting with the team next Tuesday 2pm");
  expect(intent.tools).toEqual(["calendar_check_availability", "calendar_create_event"]);
  expect(intent.risk).toBe("medium");
  expect(intent.params).toMatchObject({
    title: "Team meeting",
    start: "2026-03-10T14:00:00",
    time_zone: "Europe/Berlin",
  });
  expect(turns).toEqual([["calendar_check_availability"], ["calendar_create_event"]]);
  expect(answer?.summary).toBe(
    "Scheduled “Team meeting” with Mara Lindqvist, Tomás Herrera, Priya Raman, Jonas Weber and Aiko Tanaka for Tuesday, 10 March 2026, 14:00–15:00 (Europe/Berlin). No conflict was found.",
  );
  expect(answer?.assumptions).toContain("next Tuesday is read as Tuesday, 10 March 2026");
});

it("the people of an organization are found with their addresses and phones", async () => {
  const { intent, turns, answer } = await office.drive("contacts", "Find contact info for people at Acme Corp");
  expect(intent).toMatchObject({ risk: "low", params: { organization: "Acme Corp" } });
  expect(turns).toEqual([["contacts_search"]]);
  expect(answer?.summary).toBe("Found 3 contacts at Acme Corp: Devin Park, John Carver and Sarah Whitfield.");
  expect(answer?.details.split("\n")).toHaveLength(3);
  expect(answer?.confidence).toBe(1);
});

it("a channel is read seven days and a hundred messages back, and summed up", async () => {
  const { turns, results, answer } = await office.drive(
    "slack",
    "Summarize recent discussions in #project-alpha channel",
  );
  expect(turns).toEqual([["slack_get_channel_messages"], ["slack_analyze_conversation"]]);
  const args = { channel: "project-alpha", time_range: "7d", limit: 100 };
  expect(results.map((result) => result.args)).toEqual([args, args]);
  expect(answer?.summary).toMatch(
    /^#project-alpha has 18 messages by 5 people in the last 7 days\. It has 2 decisions/,
  );
  expect(answer?.details).toContain("We decided in the review: no tablet layout in the beta. (Mara Lindqvist)");
  expect(answer?.assumptions).toEqual(["no span is named, so it is the last 7 days, at most 100 messages"]);
});
