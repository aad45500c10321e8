/**
 * The four requests by a model: the team office without handlers, over the SDK of a vendor and sockets. Its agents have the
 * same tools and the same approvals. One of them assesses its request with a model call first, the others work directly.
 */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { RunResponse } from "@troupe/core";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { type ModelServerOptions, startModelServer } from "../harness/model-server/start-model-server.ts";
import { createOfficeHome, openOfficeOf } from "../harness/office-home.ts";
import { responseOf } from "../harness/session-queries.ts";
import { until } from "../harness/until.ts";

const office = new URL("../../packages/roles/teams/office/", import.meta.url);
const members = ["main", "email", "calendar", "contacts", "slack"];

/** A team `desk`: the files of the team office with another way to assess a request. */
async function writeDesk(home: string, intents: Partial<Record<string, "model">>): Promise<void> {
  const folder = path.join(home, "teams", "desk");
  await mkdir(path.dirname(folder), { recursive: true });
  await cp(office, folder, { recursive: true });
  for (const name of members) {
    const file = path.join(folder, `${name}.md`);
    const text = await readFile(file, "utf8");
    const intent = intents[name] === undefined ? "" : `  intent: ${intents[name]}\n`;
    await writeFile(file, text.replace(/ {2}intent: patterns\n {2}handler: \w+\n/, intent));
  }
}

const delegate = (agent: string, task: string) => ({
  calls: [{ tool: "delegate", args: { agent: `desk_${agent}`, task } }],
});

/** `main` passes the request on, and answers with the result. */
const passing = (agent: string, task: string): NonNullable<ModelServerOptions["scenario"]["agents"][string]> => [
  { steps: [delegate(agent, task), { text: "{{result.0.output}}" }] },
];

interface Played {
  agents: ModelServerOptions["scenario"]["agents"];
  intents?: Parameters<typeof writeDesk>[1];
}

async function startDesk(test: TestContext, { agents, intents = {} }: Played) {
  const home = await createOfficeHome(test);
  await writeDesk(home, intents);
  const server = await startModelServer({ scenario: { agents }, rootAgent: "desk_main" });
  test.onTestFinished(() => server.close());
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.openaiUrl, TROUPE_MODEL: "openai/gpt-6-sol" };
  const ask = async (task: string): Promise<RunResponse> => {
    const { stdout, stderr } = await troupe(["run", "--team", "desk", "--no-input", "--json", task], { home, env });
    test.expect(stdout, stderr).toMatch(/^\{/);
    return JSON.parse(stdout);
  };
  return { home, server, env, ask };
}

describe("a request to the office by a model", { timeout: 180_000 }, () => {
  it("schedules a meeting after an assessment and a check for conflicts", async (test) => {
    const { expect } = test;
    const nextYear = new Date().getUTCFullYear() + 1;
    const [start, end] = [`${nextYear}-03-03T14:00:00`, `${nextYear}-03-03T15:00:00`];
    const people = ["mara@office.local", "tomas@office.local"];
    const task = "Schedule a meeting with Mara and Tomás on 3 March at 2pm";
    const intent = { risk: "medium", expected_format: "the event", success_criteria: "it is in the calendar" };
    const { home, server, ask } = await startDesk(test, {
      intents: { calendar: "model" },
      agents: {
        desk_main: passing("calendar", task),
        desk_calendar: [
          {
            intent: {
              text: JSON.stringify({ ...intent, tools: ["calendar_check_availability", "calendar_create_event"] }),
            },
            steps: [
              { calls: [{ tool: "calendar_check_availability", args: { from: `${start}Z`, to: `${end}Z`, people } }] },
              { calls: [{ tool: "calendar_create_event", args: { title: "Plan", start, end, attendees: people } }] },
              { text: "Scheduled Plan." },
            ],
          },
        ],
      },
    });
    const response = await ask(task);
    // The main agent reads the one shape of a domain agent's answer.
    expect(response.success).toBe(true);
    expect(response.details).toMatch(/"domain":"calendar".*"event_id":"evt_.*"summary":"Scheduled Plan\."/);
    const desk = openOfficeOf(home, test);
    const span = { from: `${nextYear}-03-03T00:00:00Z`, to: `${nextYear}-03-04T00:00:00Z` };
    const { items } = await desk.calendar.listEvents(span);
    expect(items.filter(({ title }) => title === "Plan")).toHaveLength(1);
    // Two of main, the assessment, and three of the calendar agent.
    expect(server.calls()).toHaveLength(6);
  });

  it("sends a mail to people outside after an approval, and checks its delivery", async (test) => {
    const { expect } = test;
    const task = "Send project update to john@company.com and sarah@client.com";
    const to = ["john@company.com", "sarah@client.com"];
    const { home, env } = await startDesk(test, {
      agents: {
        desk_main: passing("email", task),
        desk_email: [
          {
            steps: [
              { calls: [{ tool: "gmail_send_email", args: { to, subject: "Project update", body: "All is well." } }] },
              { calls: [{ tool: "gmail_get_delivery_status", args: {} }] },
              { text: "Sent: {{result.1.output}}" },
            ],
          },
        ],
      },
    });
    const daemon = await startDaemonInProcess({ home, test, env });
    const { session } = await daemon.client.submit({ task, team: "desk", origin: "api" });
    const { id, preview } = await until(async () => (await daemon.client.approvals()).approvals[0]);
    expect(preview).toMatchObject({ kind: "email", subject: "Project update", external: to });
    await daemon.client.answer(id, { approved: true, scope: "once", by: "a test" });
    expect(await responseOf(daemon, session)).toMatchObject({
      success: true,
      summary: expect.stringContaining("stored"),
    });
    const { items } = await openOfficeOf(home, test).mail.searchMessages({ folder: "sent", subject: "project update" });
    expect(items).toHaveLength(1);
  });

  it("finds contacts, and sums a channel up", async (test) => {
    const { expect } = test;
    const find = "Find contact info for people at Acme Corp";
    const sum = "Summarize recent discussions in #project-alpha";
    const { ask } = await startDesk(test, {
      agents: {
        desk_main: [
          { when: { task: "Acme" }, steps: [delegate("contacts", find), { text: "{{result.0.output}}" }] },
          { when: { task: "alpha" }, steps: [delegate("slack", sum), { text: "{{result.0.output}}" }] },
        ],
        desk_contacts: [
          {
            steps: [
              { calls: [{ tool: "contacts_search", args: { organization: "Acme Corp" } }] },
              { text: "{{result.0.output}}" },
            ],
          },
        ],
        desk_slack: [
          {
            steps: [
              {
                calls: [
                  {
                    tool: "slack_get_channel_messages",
                    args: { channel: "#project-alpha", time_range: "7d", limit: 100 },
                  },
                ],
              },
              { calls: [{ tool: "slack_analyze_conversation", args: { channel: "#project-alpha" } }] },
              { text: "{{result.1.output}}" },
            ],
          },
        ],
      },
    });
    expect((await ask(find)).details).toContain("sarah@acme.example");
    expect((await ask(sum)).details).toMatch(/message_count.*decisions/s);
  });
});
