/** The master of the office with its four agents, in the sample office. It is Wednesday, 4 March 2026, 13:00 in Berlin. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Driver, openDriver } from "../office-driver.test-helper.ts";

let office: Driver;

beforeEach(async () => {
  office = await openDriver({ user: { name: "Kim Berg", address: "kim@lantern.example" } });
});
afterEach(() => office.close());

const delegated = ({ results }: Awaited<ReturnType<Driver["drive"]>>) => results.map(({ args }) => args);

describe("the master", () => {
  it("finds people, invites them and tells the channel, each after the part that it needs", async () => {
    const request = "find Acme's contacts, invite them Tuesday at 2, and post in #project-alpha";
    const driven = await office.drive("office", request);
    expect(driven.turns).toEqual([["delegate"], ["delegate"], ["delegate"]]);
    expect(delegated(driven)).toEqual([
      { agent: "office_contacts", task: "find Acme's contacts" },
      {
        agent: "office_calendar",
        task: "invite devin@acme.example, john@acme.example and sarah@acme.example Tuesday at 2",
      },
      {
        agent: "office_slack",
        task: expect.stringMatching(/^Post in #project-alpha: Scheduled “Meeting with Devin, John and Sarah”/),
      },
    ]);
    expect(driven.answer?.summary).toMatch(
      /^Found 3 contacts at Acme Corp: .*\. Scheduled “Meeting with Devin, John and Sarah” with .* for Tuesday, 10 March 2026, 14:00–15:00 \(Europe\/Berlin\)\. Posted in #project-alpha: /,
    );
    expect(driven.answer?.details).toContain("John Carver (Procurement Manager, Acme Corp): john@acme.example");
    const { items } = await office.office.channels.channelMessages({ channel: "project-alpha", limit: 1 });
    expect(items[0]?.text).toContain("Scheduled “Meeting with Devin, John and Sarah”");
  });

  it("delegates independent parts in one turn", async () => {
    const request =
      "Schedule a meeting with Mara on Monday at 3pm, email her saying see you there, and list my meetings tomorrow";
    const { turns, answer, intent } = await office.drive("office", request);
    expect(turns).toEqual([["delegate", "delegate", "delegate"]]);
    expect(answer?.summary).toMatch(
      /^Scheduled .*\. Sent “See you there” to Mara Lindqvist\. You have 5 events on Thursday/,
    );
    expect(intent).toMatchObject({ tools: ["delegate"], risk: "low" });
    expect(intent.notes).toContain("Part 2 is for email: “email her saying see you there”.");
  });

  it("names the parts that worked and the one that failed", async () => {
    const { answer, error } = await office.drive(
      "office",
      "Schedule a meeting with Zoe tomorrow at 3pm, and post in #general: hello",
    );
    expect(error).toBeNull();
    expect(answer?.summary).toBe(
      '1 of 2 parts is done. Posted in #general: “hello”. Not done: “Schedule a meeting with Zoe tomorrow at 3pm”, because no contact is called "Zoe".',
    );
    expect(answer?.missing).toEqual([expect.stringContaining("use a mail address")]);
    expect(answer?.confidence).toBe(0.5);
  });

  it("does not begin a part whose people were not found, and tells no channel about it", async () => {
    const request = "find people at Initech, invite them Tuesday at 2, and post in #project-alpha";
    const driven = await office.drive("office", request);
    expect(delegated(driven)).toEqual([{ agent: "office_contacts", task: "find people at Initech" }]);
    expect(driven.answer?.missing.join(" ")).toContain(
      "Not done: “invite them Tuesday at 2”: no address was found for it.",
    );
    expect(driven.answer?.missing.join(" ")).toContain("Not done: “post in #project-alpha”");
  });

  it("fails with the error of its only part", async () => {
    const { error, answer } = await office.drive("office", "Schedule a meeting with Zoe tomorrow at 3pm");
    expect(answer).toBeNull();
    expect(error).toMatchObject({ type: "params", recoverable: false, message: expect.stringContaining("Zoe") });
  });

  it("answers a single request with the lists of its agent", async () => {
    const { answer } = await office.drive("office", "Summarize #project-alpha");
    expect(answer?.summary).toMatch(/^#project-alpha has 18 messages by 5 people in the last 7 days\./);
    expect(answer?.details).toContain("Decisions:\n\n- We decided in the review");
  });

  it("answers with the results so far when no turn is left", async () => {
    const request = "find Acme's contacts, invite them Tuesday at 2, and post in #project-alpha";
    const { answer, turns } = await office.drive("office", request, 1);
    expect(turns).toHaveLength(1);
    expect(answer?.summary).toMatch(/^1 of 3 parts is done\. Found 3 contacts/);
    expect(answer?.missing).toHaveLength(2);
  });

  it("refuses a request for a domain without an agent", async () => {
    const [, , , , handler] = office.handlers;
    const intent = await handler?.assess({ ...office.requestOf("Summarize #sales"), agents: ["office_email"] });
    expect(intent?.problem).toMatchObject({ type: "permission", tool: "delegate" });
    expect(intent?.problem?.message).toContain("agent for slack");
  });

  it("leaves other requests to the model", async () => {
    expect(await office.driveOrNull("office", "Write a poem about the office")).toBeNull();
  });
});
