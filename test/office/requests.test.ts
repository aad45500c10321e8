/**
 * The team office as a person uses it from the command line: its requests are carried out by patterns alone, in the sample
 * company. A model server stands by and is never called.
 */
import type { RunResponse } from "@troupe/core";
import { describe, expect, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { createOfficeHome, eventsCalled, openOfficeOf } from "../harness/office-home.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

/** A model that answers, so that a call of it would not be noticed in the answer. */
async function standByModel(test: TestContext) {
  const scenario = { agents: { office_main: [{ steps: [{ text: "I am a model." }] }] } };
  const server = await startModelServer({ scenario, rootAgent: "office_main" });
  test.onTestFinished(() => server.close());
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.openaiUrl, TROUPE_MODEL: "openai/gpt-6-sol" };
  return { server, env };
}

async function ask(home: string, request: string, env: Record<string, string> = {}) {
  const args = ["run", "--team", "office", "--no-input", "--json", request];
  const { code, stdout, stderr } = await troupe(args, { home, env });
  const response: RunResponse = JSON.parse(stdout);
  return { code, response, stderr };
}

const meeting = "Schedule a meeting with the team next Tuesday 2pm";

describe("a request to the team office", { timeout: 180_000 }, () => {
  it("schedules a meeting after a check for conflicts, with no key and no model", async (test) => {
    const home = await createOfficeHome(test);
    const { code, response, stderr } = await ask(home, meeting);
    expect(code, stderr).toBe(0);
    expect(response).toMatchObject({ agent: "office_main", success: true, metrics: { totalTokens: 0 } });
    expect(response.summary).toMatch(
      /^Scheduled “Team meeting” with Mara Lindqvist.*Tuesday, .* 14:00–15:00.*No conflict/,
    );
    expect(response.details).toContain("the team is read as the 5 contacts of the group team");
    const [event, ...others] = await eventsCalled(openOfficeOf(home, test), "Team meeting");
    expect(others).toEqual([]);
    expect(event?.start).toMatchObject({ dateTime: expect.stringMatching(/T14:00:00$/) });
    expect(new Date(String(event?.startsAt)).getUTCDay()).toBe(2);
    expect(event?.attendees.map(({ address }) => address.split("@")[0])).toEqual(
      expect.arrayContaining(["aiko", "jonas", "mara", "priya", "tomas"]),
    );
  });

  it("calls no configured model", async (test) => {
    const home = await createOfficeHome(test);
    const { server, env } = await standByModel(test);
    const found = await ask(home, "Find contact info for people at Acme Corp", env);
    expect(found.response.summary).toBe("Found 3 contacts at Acme Corp: Devin Park, John Carver and Sarah Whitfield.");
    expect(found.response.details).toMatch(/John Carver.*john@acme\.example.*\+49/);
    const summed = await ask(home, "Summarize recent discussions in #project-alpha", env);
    expect(summed.response.summary).toMatch(/^#project-alpha has \d+ messages by \d people in the last 7 days/);
    expect(summed.response.details).toMatch(/Decisions:\n\n- .*own table/s);
    expect(summed.response.details).toContain("no span is named, so it is the last 7 days, at most 100 messages");
    const scheduled = await ask(home, meeting, env);
    expect(scheduled.response.success).toBe(true);
    expect(server.calls()).toEqual([]);
  });

  it("carries a request of three parts out, each part with the results of the one before", async (test) => {
    const home = await createOfficeHome(test);
    const { server, env } = await standByModel(test);
    const daemon = await startDaemonInProcess({ home, test, env });
    const task = "Find Globex's contacts, invite them next Tuesday at 2, and post in #project-alpha";
    const { session } = await daemon.client.submit({ task, team: "office", origin: "api" });
    // People of another company are invited: a person approves it.
    const { id, preview } = await until(async () => (await daemon.client.approvals()).approvals[0]);
    expect(preview).toMatchObject({
      kind: "event",
      action: "create",
      external: expect.arrayContaining(["carl@globex.example"]),
    });
    expect((await troupe(["approvals", "approve", id], { home, env })).code).toBe(0);
    const response = await responseOf(daemon, session);
    expect(response).toMatchObject({ success: true, metrics: { totalTokens: 0, subtree: { runs: 4 } } });
    const office = openOfficeOf(home, test);
    const { items: posts } = await office.channels.channelMessages({ channel: "project-alpha", limit: 1 });
    expect(posts[0]).toMatchObject({ author: { id: "me" } });
    expect(response.summary).toMatch(/Found 2 contacts at Globex/);
    expect(server.calls()).toEqual([]);
  });

  it("asks before a mail leaves the company, shows it as a mail, and reports its delivery", async (test) => {
    const home = await createOfficeHome(test);
    const daemon = await startDaemonInProcess({ home, test });
    const task = "Send project update to john@company.com and sarah@client.com";
    const { session } = await daemon.client.submit({ task, team: "office", origin: "api" });
    const { id } = await until(async () => (await daemon.client.approvals()).approvals[0]);
    const shown = await troupe(["approvals", "show", id], { home });
    expect(shown.stdout).toMatch(/office\/main › office\/email +gmail_send_email +high/);
    expect(shown.stdout).toContain("  Email\n");
    expect(shown.stdout).toMatch(/to +john@company\.com \(external\)\n +sarah@client\.com \(external\)\n/);
    expect((await troupe(["approvals", "ls"], { home })).stdout).toContain("sarah@client.com (external)");
    const office = openOfficeOf(home, test);
    const sentBefore = (await office.mail.searchMessages({ subject: "project update", folder: "sent" })).items;
    expect(sentBefore).toEqual([]);
    expect((await troupe(["approvals", "approve", id], { home })).code).toBe(0);
    const response = await responseOf(daemon, session);
    expect(response.success).toBe(true);
    // Mail to addresses outside stays in the local outbox, and the answer says so.
    expect(response.details).toMatch(/outbox/);
    expect((await office.mail.searchMessages({ subject: "project update", folder: "sent" })).items).toHaveLength(1);
  });

  it("that fits no pattern says what can be asked, and how to configure a model", async (test) => {
    const home = await createOfficeHome(test);
    const { code, stdout } = await troupe(["run", "--team", "office", "--json", "Compose a sonnet"], { home });
    expect(code).not.toBe(0);
    const { error } = JSON.parse(stdout);
    expect(error.message).toMatch(/none of its patterns fits it, and no model is configured/);
    expect(error.message).toContain('"Schedule a meeting with the team next Tuesday 2pm"');
    expect(error.message).toContain("export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…");
  });

  it("goes to a configured model if it fits no pattern", async (test) => {
    const home = await createOfficeHome(test);
    const { server, env } = await standByModel(test);
    const { response } = await ask(home, "Compose a sonnet", env);
    expect(response).toMatchObject({ success: true, summary: "I am a model." });
    expect(server.calls()).toHaveLength(1);
  });

  it("in an office without data says how to fill it", async (test) => {
    const home = await tempFolder("empty-office", test);
    const { code, stdout, stderr } = await troupe(["run", "--team", "office", "--no-input", meeting], { home });
    expect(code, stdout).toBe(6);
    expect(stderr).toContain("fill it with a sample company (troupe office seed)");
  });

  it("is continued with a model that was configured meanwhile", async (test) => {
    const home = await createOfficeHome(test);
    const first = await ask(home, "Find contact info for people at Acme Corp");
    const { server, env } = await standByModel(test);
    const args = ["run", "--resume", first.response.sessionId, "--no-input", "--json", "Compose a sonnet about them"];
    const { stdout, stderr } = await troupe(args, { home, env });
    expect(JSON.parse(stdout), stderr).toMatchObject({ success: true, summary: "I am a model." });
    expect(server.calls()).toHaveLength(1);
  });
});
