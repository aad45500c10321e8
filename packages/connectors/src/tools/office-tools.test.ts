/** The tools of contacts and channels, and promises that all tools share, on a real local office. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSample, run, type Sample } from "./office-tools.test-helper.ts";

let sample: Sample;
beforeAll(async () => {
  sample = await openSample();
});
afterAll(() => sample.close());

describe("the office tools", () => {
  it("have fixed names, in the groups of their domains", () => {
    const byGroup = Object.groupBy(sample.tools, ({ spec }) => spec.groups.join());
    const names = Object.fromEntries(
      Object.entries(byGroup).map(([group, tools = []]) => [group, tools.map(({ spec }) => spec.name).toSorted()]),
    );
    expect(names).toEqual({
      email: [
        "create_draft",
        "get_delivery_status",
        "get_message",
        "reply_to_message",
        "search_messages",
        "send_email",
      ].map((name) => `gmail_${name}`),
      calendar: ["check_availability", "create_event", "delete_event", "list_events", "update_event"].map(
        (name) => `calendar_${name}`,
      ),
      contacts: ["get_by_id", "list_organizations", "search", "validate_email"].map((name) => `contacts_${name}`),
      slack: [
        "analyze_conversation",
        "get_channel_messages",
        "get_thread_replies",
        "get_user_info",
        "post_message",
        "search_messages",
      ].map((name) => `slack_${name}`),
    });
  });

  it("only read, or can run again with the same key", () => {
    const effects = new Map(sample.tools.map(({ spec }) => [spec.name, spec.effect]));
    const changing = [...effects].filter(([, effect]) => effect === "idempotent").map(([name]) => name);
    expect(changing.toSorted()).toEqual([
      ...["calendar_create_event", "calendar_delete_event", "calendar_update_event", "gmail_create_draft"],
      ...["gmail_reply_to_message", "gmail_send_email", "slack_post_message"],
    ]);
    expect([...effects.values()].filter((effect) => effect === "read")).toHaveLength(14);
  });

  it("answer wrong arguments with a JSON error that names the argument", async () => {
    for (const { spec } of sample.tools) {
      const { output, error } = await sample.call(spec.name, {
        limit: "many",
        message_id: 5,
        event_id: 5,
        email: 5,
        to: "x",
      });
      expect(output.error, spec.name).toMatchObject({
        type: "params",
        message: expect.stringContaining("expected fields"),
      });
      expect(error, spec.name).toMatchObject({ type: "params" });
    }
  });
});

describe("contacts", () => {
  it("are found by name, organization and id", async () => {
    const { output } = await sample.call("contacts_search", { organization: "Acme Corp", text: "sarah" });
    expect(output.contacts).toMatchObject([
      { name: "Sarah Whitfield", emails: ["sarah@acme.example"], title: "Head of Operations" },
    ]);
    const { contact_id } = output.contacts[0];
    expect((await sample.call("contacts_get_by_id", { contact_id })).output.contact).toEqual(output.contacts[0]);
  });

  it("have organizations, in pages", async () => {
    const first = (await sample.call("contacts_list_organizations", { limit: 2 })).output;
    expect(first.organizations[0]).toEqual({ name: "Acme Corp", domain: "acme.example", contact_count: 3 });
    const second = (await sample.call("contacts_list_organizations", { limit: 2, page: first.next_page })).output;
    expect(second.organizations[0].name).not.toBe("Acme Corp");
  });

  it("tell whether an address can be right", async () => {
    const check = async (email: string) => (await sample.call("contacts_validate_email", { email })).output;
    expect(await check("sarah@acme.example")).toMatchObject({ valid: true, contact: { name: "Sarah Whitfield" } });
    expect(await check("sara@acme.example")).toMatchObject({
      valid: true,
      contact: null,
      suggestion: "sarah@acme.example",
    });
    expect(await check("sara@@x\r\n")).toMatchObject({ valid: false, reason: expect.any(String) });
  });
});

describe("a channel", () => {
  it("is read over the last 7 days", async () => {
    const { output, untrusted, ...rest } = await sample.call("slack_get_channel_messages", {
      channel: "#project-alpha",
    });
    expect(output).toMatchObject({
      channel: "project-alpha",
      from: "2026-02-25T12:00:00.000Z",
      to: "2026-03-04T12:00:00.000Z",
    });
    expect(output.messages.every(({ sent_at }: { sent_at: string }) => sent_at >= output.from)).toBe(true);
    expect(untrusted).toEqual(["messages in #project-alpha"]);
    expect(rest.private).toEqual(["channel #project-alpha"]);
  });

  it.each([
    ["24h", 1],
    ["2d", 2],
    ["1w", 7],
  ])("is read over %s", async (time_range, days) => {
    const { output } = await sample.call("slack_get_channel_messages", { channel: "general", time_range });
    expect(Date.parse(output.to) - Date.parse(output.from)).toBe(days * 86_400_000);
  });

  it.each([
    [{ channel: "project-alfa" }, "channel", /project-alpha/],
    [{ channel: "general", time_range: "soon" }, "time_range", /7d/],
    [{ channel: "general", since: "2026-03-04", until: "2026-03-01" }, "until", /not after/],
    [{ channel: "general", time_range: "7d", since: "2026-03-01" }, "time_range", /one of them/],
  ])("is not read with %j", async (args, param, fix) => {
    const { output } = await sample.call("slack_get_channel_messages", args);
    expect(output.error).toMatchObject({ type: "params", param });
    expect(JSON.stringify(output)).toMatch(fix);
  });

  it("has threads, members and a search", async () => {
    const found = (await sample.call("slack_search_messages", { text: "push tokens", from: "tomas" })).output;
    const [message] = found.messages;
    const thread = await sample.call("slack_get_thread_replies", {
      channel: "project-alpha",
      message_id: message.message_id,
    });
    expect(thread.output.messages.map(({ author }: { author: string }) => author)).toEqual([
      "Tomás Herrera",
      "Jonas Weber",
      "Tomás Herrera",
    ]);
    const { user } = (await sample.call("slack_get_user_info", { user: "@jonas" })).output;
    expect(user).toMatchObject({ name: "Jonas Weber", time_zone: "Europe/Berlin", is_bot: false });
  });

  it("gets a message once for each call", async () => {
    const change = { idempotencyKey: `${run}/60/0` };
    const args = { channel: "general", text: "The beta is out." };
    const first = await sample.call("slack_post_message", args, change);
    expect(first.output).toMatchObject({ channel: "general", posted_at: expect.any(String) });
    expect((await sample.call("slack_post_message", args, change)).output).toEqual(first.output);
    const { messages } = (await sample.call("slack_search_messages", { text: '"The beta is out"' })).output;
    expect(messages).toHaveLength(1);
    const reply = await sample.call("slack_post_message", {
      ...args,
      text: "Thanks",
      thread_id: first.output.message_id,
    });
    expect(reply.output.thread_id).toBe(first.output.message_id);
  });

  it("gets nothing in a dry run, nor with an unknown thread", async () => {
    const dry = await sample.call("slack_post_message", { channel: "sales", text: "Dry", dry_run: true });
    expect(dry.output).toEqual({
      dry_run: true,
      preview: { kind: "message", channel: "#sales", text: "Dry", thread: null },
    });
    expect((await sample.call("slack_search_messages", { text: "Dry" })).output.messages).toEqual([]);
    const lost = await sample.call("slack_post_message", { channel: "sales", text: "x", thread_id: "9.9" });
    expect(lost.output.error.type).toBe("params");
  });
});
