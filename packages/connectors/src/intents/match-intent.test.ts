/** Each pattern takes its phrasings, and leaves the others to other patterns or to none. */
import { describe, expect, inject, it } from "vitest";
import { matchIntent } from "./match-intent.ts";
import { type IntentDomain, intentDomains, patternsOf } from "./pattern-file.ts";
import { phrasings } from "./phrasings.test-helper.ts";

const tables = intentDomains.flatMap((domain) =>
  Object.entries(phrasings[domain]).map(([pattern, table]) => ({ domain, pattern, ...table })),
);

describe.each(tables)("$domain $pattern", ({ domain, pattern, matches, others }) => {
  it("has at least twelve phrasings, four of which do not match", () => {
    expect(new Set([...matches, ...others]).size).toBeGreaterThanOrEqual(12);
    expect(others.length).toBeGreaterThanOrEqual(4);
  });

  it.each(matches)("takes: %s", (request) => {
    expect(matchIntent(domain, request)?.pattern).toBe(pattern);
  });

  it.each(others)("leaves: %s", (request) => {
    expect(matchIntent(domain, request)?.pattern).not.toBe(pattern);
  });
});

it.each(intentDomains)("every pattern of %s has a table, known parameters and tools of its domain", (domain) => {
  const { patterns } = patternsOf(domain);
  expect(patterns.map(({ name }) => name).toSorted()).toEqual(Object.keys(phrasings[domain]).toSorted());
  expect(patterns.flatMap(({ tools }) => tools).filter((tool) => !tool.startsWith(`${domain}_`))).toEqual([]);
  for (const { params, requires } of patterns) expect(requires.filter((param) => !(param in params))).toEqual([]);
});

describe("words of parameters", () => {
  it.each<[IntentDomain, string, object]>([
    [
      "gmail",
      "Send project update to john@company.com and sarah@client.com",
      { subject: "project update", to: "john@company.com and sarah@client.com" },
    ],
    [
      "gmail",
      "Send an email to Mara about the beta saying we ship on Friday.",
      { to: "Mara", subject: "the beta", body: "we ship on Friday" },
    ],
    [
      "gmail",
      "Reply to the last email from John: the offer is on its way",
      { from: "John", body: "the offer is on its way" },
    ],
    ["gmail", "reply to Victor's email saying paid yesterday", { from: "Victor", body: "paid yesterday" }],
    ["gmail", "email Ruth that the offer is ready", { to: "Ruth", body: "the offer is ready" }],
    [
      "calendar",
      "Schedule a call with Mara on Friday at 3pm about the contract",
      { people: "Mara", about: "the contract" },
    ],
    ["gmail", "search my inbox for invoices from Victor", { text: "invoices", from: "Victor" }],
    ["calendar", "Schedule a meeting with the team next Tuesday 2pm", { people: "the team", noun: "meeting" }],
    [
      "calendar",
      "set up a design review with Priya and Jonas on Friday from 2 to 3pm",
      { people: "Priya and Jonas", topic: "design" },
    ],
    ["calendar", "Move the design review to Friday at 10am", { title: "design", change: "to Friday at 10am" }],
    ["calendar", "Is Mara free tomorrow at 10?", { people: "Mara" }],
    [
      "calendar",
      "Plan a standup every weekday at 9:15 with Mara and Ruth",
      { people: "Mara and Ruth", noun: "standup" },
    ],
    ["contacts", "Find contact info for people at Acme Corp", { organization: "Acme Corp" }],
    ["contacts", "What is Ruth's email address?", { name: "Ruth" }],
    ["slack", "Summarize recent discussions in #project-alpha channel", { channel: "#project-alpha" }],
    ["slack", "search slack for crash from @jonas", { text: "crash", from: "@jonas" }],
    [
      "slack",
      "Get the thread 1772442000.000100 in #project-alpha",
      { message: "1772442000.000100", channel: "#project-alpha" },
    ],
  ])("%s: %s", (domain, request, words) => {
    expect(matchIntent(domain, request)?.words).toMatchObject(words);
  });
});

describe("hostile requests", () => {
  it.each([
    "a".repeat(1_999),
    "send ".repeat(390),
    `send ${"to to to ".repeat(200)}`,
    `find ${"of the ".repeat(250)}`,
    `schedule a ${"a b c ".repeat(300)}`,
    `Summarize ${"the all recent ".repeat(130)}`,
    `check ${"is a valid email ".repeat(110)}`,
    `Send an email to ${"a@b.example, ".repeat(150)}`,
    `move the ${"x ".repeat(900)}meeting`,
  ])("end soon: %.20s…", (request) => {
    // A linear match needs far less than the limit, and an exponential one far more.
    const { user: beforeMicros } = process.cpuUsage();
    for (const domain of intentDomains) matchIntent(domain, request);
    expect(process.cpuUsage().user - beforeMicros).toBeLessThan(3_000_000);
  });

  it("of megabytes match nothing", () => {
    const request = "send an email to x ".repeat(inject("long") ? 500_000 : 60_000);
    for (const domain of intentDomains) expect(matchIntent(domain, request)).toBeNull();
  });
});
