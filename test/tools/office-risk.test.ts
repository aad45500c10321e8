/** The risk of each call of the office tools in the tool host, by its real recipients and attendees, and its approvals. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Connectors, createOfficeTools, type LocalOffice, openLocalOffice, seedOffice } from "@troupe/connectors";
import { type Risk, ToolCall, type ToolContext } from "@troupe/core";
import { createToolHost } from "@troupe/tools";
import { describe, expect, it, type TestContext } from "vitest";
import { tempFolder } from "../harness/temp-folder.ts";

const nowMs = Date.UTC(2026, 2, 4, 12);
const day = "2026-03-07";
const time = { start: `${day}T10:00`, end: `${day}T11:00` };
const people = (count: number): string[] =>
  ["mara", "tomas", "priya", "jonas", "aiko", "ruth"].slice(0, count).map((name) => `${name}@lantern.example`);

interface Opened {
  office: LocalOffice;
  workspace: string;
  examine(name: string, args: unknown, change?: Partial<ToolContext>): Promise<Awaited<ReturnType<Examine>>>;
  run(name: string, args: unknown, change?: Partial<ToolContext>): ReturnType<Host["run"]>;
}
type Host = ReturnType<typeof createToolHost>;
type Examine = NonNullable<Host["examine"]>;

async function openHost(
  test: Pick<TestContext, "onTestFinished">,
  { account = "kim@lantern.example", ownDomains = null as string[] | null, wrap = (same: Connectors) => same } = {},
): Promise<Opened> {
  const folder = await tempFolder("office-risk", test);
  const workspace = path.join(folder, "work");
  await mkdir(workspace);
  const user = { name: "Kim Berg", address: account };
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  const office = openLocalOffice({ folder: path.join(folder, "office"), user, timeZone: "Europe/Berlin", clock });
  test.onTestFinished(() => office.close());
  seedOffice(office);
  const connectors = wrap(office);
  const tools = createOfficeTools({ connectors: async () => connectors, ownDomains, clock });
  const host = createToolHost({ tools });
  const grant = { tools: tools.map(({ spec }) => spec.name), agents: [], writes: [] };
  let count = 0;
  const contextOf = (change: Partial<ToolContext> = {}): ToolContext => ({
    ...{ session: "s", run: "r", agent: "email", workspace, grant, approved: false, plan: null },
    ...{ signal: new AbortController().signal, idempotencyKey: `r/${count}/0`, ...change },
  });
  const callOf = (name: string, args: unknown): ToolCall => {
    count += 1;
    return ToolCall.parse({ id: `${count}`, name, args });
  };
  return {
    office,
    workspace,
    async examine(name, args, change) {
      const found = await host.examine?.(callOf(name, args), contextOf(change));
      if (!found) throw new Error("the host does not examine calls");
      return found;
    },
    run: (name, args, change) => host.run(callOf(name, args), contextOf(change)),
  };
}

const mail = { subject: "Beta", body: "On Friday." };

describe("the risk of a call", () => {
  it.for<[string, string, object, Risk]>([
    ["a search", "gmail_search_messages", {}, "low"],
    ["a list of events", "calendar_list_events", {}, "low"],
    ["an analysis", "slack_analyze_conversation", { channel: "general" }, "low"],
    ["a check of an address", "contacts_validate_email", { email: "a@b.example" }, "low"],
    ["a mail to a colleague", "gmail_send_email", { ...mail, to: people(1) }, "medium"],
    ["a mail to 5 colleagues", "gmail_send_email", { ...mail, to: people(3), cc: people(5).slice(3) }, "medium"],
    ["a mail to 6 colleagues", "gmail_send_email", { ...mail, to: people(3), bcc: people(6).slice(3) }, "high"],
    ["a mail to an outsider", "gmail_send_email", { ...mail, to: ["john@acme.example"] }, "high"],
    ["a mail with an outsider in bcc", "gmail_send_email", { ...mail, to: people(1), bcc: ["x@acme.example"] }, "high"],
    ["a mail to the own address", "gmail_send_email", { ...mail, to: ["kim@lantern.example"] }, "medium"],
    ["a dry run for an outsider", "gmail_send_email", { ...mail, to: ["x@acme.example"], dry_run: true }, "low"],
    ["a draft for an outsider", "gmail_create_draft", { ...mail, to: ["x@acme.example"] }, "medium"],
    ["an own event", "calendar_create_event", { title: "Focus", ...time }, "medium"],
    ["an event with a colleague", "calendar_create_event", { title: "1:1", ...time, attendees: people(1) }, "medium"],
    ["an event with 6 colleagues", "calendar_create_event", { title: "All", ...time, attendees: people(6) }, "high"],
    [
      "an event with an outsider",
      "calendar_create_event",
      { title: "Call", ...time, attendees: ["x@acme.example"] },
      "high",
    ],
    ["a public event", "calendar_create_event", { title: "Fair", ...time, visibility: "public" }, "high"],
    ["a message in a channel", "slack_post_message", { channel: "general", text: "Hi" }, "medium"],
  ])("%s: %s", async ([, name, args, risk], test) => {
    const { examine } = await openHost(test);
    const found = await examine(name, args);
    expect(found).toMatchObject({ risk, decision: risk === "high" ? "ask" : "allow" });
    expect(found.preview !== undefined).toBe(risk === "high");
  });

  it("of a reply comes from the message that it answers", async (test) => {
    const { office, examine } = await openHost(test);
    const idOf = async (query: object) => (await office.mail.searchMessages(query)).items[0]?.id;
    const reply = async (query: object, change: object = {}) =>
      (await examine("gmail_reply_to_message", { message_id: await idOf(query), body: "Thanks", ...change })).risk;
    expect(await reply({ from: "jonas" })).toBe("medium");
    expect(await reply({ from: "john" })).toBe("high");
    // Ruth's message went to John as well.
    expect(await reply({ from: "ruth", subject: "Contract" })).toBe("medium");
    expect(await reply({ from: "ruth", subject: "Contract" }, { to_all: true })).toBe("high");
    // An own message is answered to its recipients.
    expect(await reply({ from: "kim", subject: "Invoice" })).toBe("high");
  });

  it("of an update or a deletion comes from the event", async (test) => {
    const { office, examine } = await openHost(test);
    const eventWith = async (address: string, hour: string) => {
      const at = (minute: string) => ({ dateTime: `${day}T${hour}:${minute}:00`, timeZone: "Europe/Berlin" });
      const event = { title: "Call", start: at("00"), end: at("30"), attendees: [{ name: "", address }] };
      return (await office.calendar.createEvent(event, { idempotencyKey: hour })).id;
    };
    const [inside, outside] = [
      await eventWith("mara@lantern.example", "08"),
      await eventWith("john@acme.example", "09"),
    ];
    const update = async (event_id: string, change: object) =>
      (await examine("calendar_update_event", { event_id, ...change })).risk;
    expect(await update(inside, { title: "Other" })).toBe("medium");
    expect(await update(outside, { title: "Other" })).toBe("high");
    expect(await update(outside, { attendees: people(1) })).toBe("high");
    expect(await update(inside, { attendees: ["john@acme.example"] })).toBe("high");
    expect(await update(inside, { visibility: "public" })).toBe("high");
    const deletion = await examine("calendar_delete_event", { event_id: inside });
    expect(deletion).toMatchObject({
      ...{ risk: "high", decision: "ask", reason: expect.stringContaining("it deletes an event") },
      preview: { kind: "event", action: "delete", title: "Call", when: `${day} 08:00 to 08:30 Europe/Berlin` },
    });
  });
});

describe("own domains", () => {
  const risk = async (test: Pick<TestContext, "onTestFinished">, options: object, to: string) => {
    const { examine } = await openHost(test, options);
    return (await examine("gmail_send_email", { ...mail, to: [to] })).risk;
  };

  it("can be set", async (test) => {
    const options = { ownDomains: ["lantern.example", "Acme.example"] };
    expect(await risk(test, options, "john@acme.example")).toBe("medium");
    expect(await risk(test, options, "john@eu.acme.example")).toBe("high");
  });

  it("never contain a service where everyone can have an address", async (test) => {
    expect(await risk(test, { account: "kim@gmail.com" }, "stranger@gmail.com")).toBe("high");
    expect(await risk(test, { account: "kim@gmail.com" }, "kim@gmail.com")).toBe("medium");
  });
});

describe("an approval", () => {
  it("shows a mail as its recipients will see it", async (test) => {
    const { examine, workspace } = await openHost(test);
    await writeFile(path.join(workspace, "offer.pdf"), "an offer");
    const args = {
      to: ["John <john@acme.example>"],
      cc: people(1),
      subject: "Off\u202Eer",
      body: "Hello\u200B John,\n\nsee below.",
    };
    const { preview } = await examine("gmail_send_email", { ...args, attachments: ["offer.pdf"] });
    expect(preview).toEqual({
      ...{ kind: "email", from: "kim@lantern.example", to: ["John <john@acme.example>"], cc: people(1), bcc: [] },
      ...{ subject: "Offer", body: "Hello John,\n\nsee below.", external: ["john@acme.example"] },
      attachments: [{ name: "offer.pdf", bytes: 8, digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    });
  });

  it("shows only the beginning of a long body, and counts the rest", async (test) => {
    const { examine } = await openHost(test);
    const args = { to: ["john@acme.example"], subject: "Long", body: "x".repeat(100_000) };
    const { preview } = await examine("gmail_send_email", args);
    expect(preview).toMatchObject({ body: expect.stringMatching(/^x{5000}\n\[95000 more characters\]$/) });
  });

  it("of a mail is not valid for another content of its attachment", async (test) => {
    const { examine, run, workspace, office } = await openHost(test);
    const file = path.join(workspace, "offer.pdf");
    await writeFile(file, "an offer");
    const args = { ...mail, to: ["john@acme.example"], attachments: ["offer.pdf"] };
    const { bound = [] } = await examine("gmail_send_email", args);
    await writeFile(file, "another!");
    const refused = await run("gmail_send_email", args, { approved: true, approval: { bound } });
    expect(refused.error).toMatchObject({ type: "permission", message: expect.stringContaining("has changed") });
    await writeFile(file, "an offer");
    const sent = await run("gmail_send_email", args, { approved: true, approval: { bound } });
    expect(sent.error).toBeNull();
    expect((await office.mail.searchMessages({ folder: "sent", subject: "Beta" })).items).toHaveLength(1);
  });

  it("of a deletion is not valid after the event has changed", async (test) => {
    const { examine, run, office } = await openHost(test);
    const at = (hour: string) => ({ dateTime: `${day}T${hour}:00:00`, timeZone: "Europe/Berlin" });
    const event = await office.calendar.createEvent(
      { title: "Call", start: at("10"), end: at("11") },
      { idempotencyKey: "call" },
    );
    const args = { event_id: event.id };
    const { bound = [] } = await examine("calendar_delete_event", args);
    await office.calendar.updateEvent(event.id, { title: "Board meeting" });
    const refused = await run("calendar_delete_event", args, { approved: true, approval: { bound } });
    expect(refused.error?.type).toBe("permission");
    expect((await office.calendar.getEvent(event.id)).title).toBe("Board meeting");
    const now = await examine("calendar_delete_event", args);
    const deleted = await run("calendar_delete_event", args, { approved: true, approval: { bound: now.bound ?? [] } });
    expect(JSON.parse(deleted.output)).toMatchObject({ deleted: true, title: "Board meeting" });
    // A host that does not know the outcome runs the call again.
    const again = await run("calendar_delete_event", args, { approved: true, approval: { bound: now.bound ?? [] } });
    expect(JSON.parse(again.output)).toMatchObject({ deleted: false });
  });

  it("of a reply is not valid if the message would be answered to another person", async (test) => {
    let sender = "john@acme.example";
    const wrap = (same: Connectors): Connectors => ({
      ...same,
      mail: {
        ...same.mail,
        getMessage: async (id) => ({ ...(await same.mail.getMessage(id)), from: { name: "", address: sender } }),
      },
    });
    const { examine, run, office } = await openHost(test, { wrap });
    const [message] = (await office.mail.searchMessages({ from: "john" })).items;
    const args = { message_id: message?.id, body: "Thanks" };
    const { bound = [], preview } = await examine("gmail_reply_to_message", args);
    expect(preview).toMatchObject({ to: ["john@acme.example"], subject: "Re: Contract renewal" });
    sender = "eve@evil.example";
    const refused = await run("gmail_reply_to_message", args, { approved: true, approval: { bound } });
    expect(refused.error?.type).toBe("permission");
  });

  it("is not asked for a call that cannot succeed: its error is a JSON output", async (test) => {
    const { examine, run } = await openHost(test);
    for (const [name, args] of [
      ["calendar_delete_event", { event_id: "none" }],
      ["gmail_reply_to_message", { message_id: "none", body: "x" }],
      ["gmail_send_email", { ...mail, to: ["john@acme.example"], attachments: ["none"] }],
      ["calendar_create_event", { title: "Past", start: "2020-01-01T10:00", end: "2020-01-01T11:00" }],
      ["gmail_send_email", { ...mail, to: ["john"] }],
    ] as const) {
      expect((await examine(name, args)).decision).toBe("allow");
      const outcome = await run(name, args);
      expect(JSON.parse(outcome.output).error.type).toBe("params");
      expect(outcome.error).toMatchObject({ type: "params", tool: name });
    }
  });
});
