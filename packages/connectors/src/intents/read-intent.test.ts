/** Requests become parameters of calls without a model, in the sample office. It is Monday, 2 March 2026, 12:00 in Berlin. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalOffice, openLocalOffice } from "../local/open-local-office.ts";
import { seedOffice } from "../sample/seed-office.ts";
import type { IntentDomain } from "./pattern-file.ts";
import { readIntent } from "./read-intent.ts";

const nowMs = Date.UTC(2026, 2, 2, 11);
const user = { name: "Kim", address: "kim@lantern.example" };
let folder: string;
let office: LocalOffice;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-intents-"));
  office = openLocalOffice({ folder, user, timeZone: "Europe/Berlin", clock: { now: () => nowMs } });
  seedOffice(office);
});
afterAll(async () => {
  office.close();
  await rm(folder, { recursive: true });
});

const read = (domain: IntentDomain, request: string) =>
  readIntent(domain, request, { nowMs, timeZone: "Europe/Berlin", contacts: office.contacts, user });

describe("a request of each domain", () => {
  it("sends a mail to two addresses", async () => {
    expect(await read("gmail", "Send project update to john@acme.example and sarah@client.example")).toEqual({
      ...{ domain: "email", pattern: "send", risk: "medium", assumptions: [] },
      tools: ["gmail_send_email", "gmail_get_delivery_status"],
      params: {
        to: [
          { name: "John Carver", address: "john@acme.example" },
          { name: "", address: "sarah@client.example" },
        ],
        subject: "project update",
      },
    });
  });

  it("schedules a meeting with the team", async () => {
    const reading = await read("calendar", "Schedule a meeting with the team next Tuesday 2pm");
    expect(reading).toMatchObject({
      domain: "calendar",
      tools: ["calendar_check_availability", "calendar_create_event"],
      risk: "medium",
      params: {
        noun: "meeting",
        time: {
          start: { dateTime: "2026-03-10T14:00:00", timeZone: "Europe/Berlin" },
          label: "Tuesday, 10 March 2026, 14:00–15:00 (Europe/Berlin)",
        },
      },
    });
    // The sample has a group of this name: not all ten colleagues.
    expect(reading?.params.people).toHaveLength(5);
    expect(reading?.assumptions).toEqual([
      "the team is read as the 5 contacts of the group team",
      "next Tuesday is read as Tuesday, 10 March 2026",
      "no length is named, so it lasts 60 minutes",
    ]);
  });

  it("finds the people of an organization", async () => {
    const reading = await read("contacts", "Find contact info for people at Acme Corp");
    expect(reading).toMatchObject({ tools: ["contacts_search"], risk: "low", params: { organization: "Acme Corp" } });
  });

  it("summarizes a channel", async () => {
    expect(await read("slack", "Summarize the last 50 messages in #project-alpha from the last 7 days")).toMatchObject({
      tools: ["slack_get_channel_messages", "slack_analyze_conversation"],
      params: {
        channel: "project-alpha",
        limit: 50,
        range: { from: "2026-02-23T11:00:00.000Z", to: "2026-03-02T11:00:00.000Z" },
      },
    });
  });

  it("searches mail of a sender and a span of time", async () => {
    expect((await read("gmail", "Find emails from Sarah since yesterday"))?.params).toMatchObject({
      from: "Sarah",
      range: { from: "2026-02-28T23:00:00.000Z" },
    });
  });

  it("asks for the free time of people, of the user too, with a length", async () => {
    const mara = { name: "Mara Lindqvist", address: "mara@lantern.example" };
    expect((await read("calendar", "Find a free slot with Mara this week for 45 minutes"))?.params).toEqual({
      people: [mara],
      range: { from: "2026-03-01T23:00:00.000Z", to: "2026-03-08T23:00:00.000Z" },
      minutes: 45,
    });
    expect((await read("calendar", "Am I free on Thursday afternoon?"))?.params.people).toEqual([user]);
  });
});

describe("a request with a missing or wrong part is refused", () => {
  it.each<[IntentDomain, string, string, string]>([
    ["calendar", "Schedule a meeting with the team", "time", "names no time"],
    ["calendar", "Schedule a meeting with the team on Friday", "time", "no time"],
    ["calendar", "Book a call with Zoe tomorrow at 10", "people", 'no contact is called "Zoe"'],
    ["calendar", "Schedule a meeting with Mara on 29 March at 2:30am", "time", "does not exist"],
    ["gmail", "Send an email to bob@ about lunch", "people", "not a mail address"],
  ])("%s: %s", async (domain, request, param, reason) => {
    await expect(read(domain, request)).rejects.toMatchObject({ type: "params", param });
    await expect(read(domain, request)).rejects.toThrow(reason);
  });
});

it("a request without a pattern is null", async () => {
  expect(await read("gmail", "Write a poem about mail")).toBeNull();
  expect(await read("slack", "")).toBeNull();
});

it("line breaks of a request do not reach a subject", async () => {
  const reading = await read("gmail", "Send an email to mara about lunch\r\nBcc: eve@evil.example");
  expect(JSON.stringify(reading?.params.subject ?? "")).not.toMatch(/\\r|\\n/);
});
