/** Requests to the team `office` in the sample company: intent, calls and answer by patterns, without a model. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { openLocalOffice, seedOffice } from "@troupe/connectors";
import { createTroupe, type Troupe } from "troupe";
import { describe, expect, it, type TestContext } from "vitest";
import { tempFolder } from "../harness/temp-folder.ts";

const user = { name: "Kim Berg", address: "kim@lantern.example" };

async function openOffice(test: Pick<TestContext, "onTestFinished">, approve = true) {
  const folder = await tempFolder("office", test);
  const office = openLocalOffice({ folder: path.join(folder, "office"), user, timeZone: "Europe/Berlin" });
  seedOffice(office);
  const workspace = path.join(folder, "workspace");
  await mkdir(workspace);
  const env = { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: path.join(folder, "home") };
  const troupe: Troupe = await createTroupe({
    ...{ env, workspace, store: "memory", team: "office", connectors: office },
    onApproval: () => (approve ? "approve" : "deny"),
  });
  test.onTestFinished(async () => {
    await troupe.close();
    office.close();
  });
  return { troupe, office };
}

/** All runs of a session with their agents, and the tokens of all. */
async function runsOf(troupe: Troupe, session: string) {
  const detail = await troupe.sessions.get(session);
  return (detail?.runs ?? []).toSorted((a, b) => a.order - b.order);
}

describe("the office", () => {
  it("schedules a meeting: one message to the calendar agent, and no model call", async (test) => {
    const { troupe, office } = await openOffice(test);
    const response = await troupe.run("Schedule a meeting with Mara next Tuesday at 8pm");
    expect(response.success).toBe(true);
    expect(response.summary).toMatch(
      /^Scheduled “Meeting with Mara” with Mara Lindqvist for Tuesday, .*20:00–21:00 \(Europe\/Berlin\)/,
    );
    expect(response.metrics.subtree.totalTokens).toBe(0);
    const runs = await runsOf(troupe, response.sessionId);
    expect(runs.map(({ agent, status }) => [agent, status])).toEqual([
      ["office_main", "completed"],
      ["office_calendar", "completed"],
    ]);
    const [child] = runs.slice(1);
    const context = await troupe.service.explain(child?.run ?? "");
    expect(context).toMatchObject({
      context: { status: "complete", tools: ["calendar_check_availability", "calendar_create_event"] },
    });
    const now = Date.now();
    const { items } = await office.calendar.listEvents({
      from: new Date(now).toISOString(),
      to: new Date(now + 30 * 86_400_000).toISOString(),
      text: "Meeting with Mara",
    });
    expect(items).toHaveLength(1);
  });

  it("finds people, invites them and posts, in three waves, after the approval of the invitation", async (test) => {
    const { troupe } = await openOffice(test);
    const response = await troupe.run(
      "find Acme's contacts, invite them next Tuesday at 8pm, and post in #project-alpha",
    );
    expect(response.success).toBe(true);
    expect(response.summary).toMatch(
      /^Found 3 contacts at Acme Corp.*Scheduled “Meeting with Devin, John and Sarah”.*Posted in #project-alpha/,
    );
    const agents = (await runsOf(troupe, response.sessionId)).map(({ agent }) => agent);
    expect(agents).toEqual(["office_main", "office_contacts", "office_calendar", "office_slack"]);
  });

  it("sums up a channel in at most three turns of its agent", async (test) => {
    const { troupe } = await openOffice(test);
    const response = await troupe.run("Summarize recent discussions in #project-alpha channel");
    expect(response.success).toBe(true);
    expect(response.summary).toMatch(/^#project-alpha has \d+ messages by \d people in the last 7 days\./);
    expect(response.metrics.subtree.totalTokens).toBe(0);
  });

  it("sends nothing that a person has denied, and says so", async (test) => {
    const { troupe, office } = await openOffice(test, false);
    const response = await troupe.run("Send an email to john@acme.example about the offer saying it is ready");
    expect(response.success).toBe(false);
    const { items } = await office.mail.searchMessages({ folder: "sent", text: "offer" });
    expect(items.filter(({ to }) => to.some(({ address }) => address === "john@acme.example"))).toEqual([]);
  });

  it("answers a request with an unknown person with the reason", async (test) => {
    const { troupe } = await openOffice(test);
    const response = await troupe.run("Schedule a meeting with Zoe next Tuesday at 8pm");
    expect(response).toMatchObject({ success: false, error: { type: "params" } });
    expect(JSON.stringify(response.error)).toContain("Zoe");
  });
});
