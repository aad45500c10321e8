/** The mail tools on a real local office. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSample, run, type Sample } from "../office-tools.test-helper.ts";

let sample: Sample;
beforeAll(async () => {
  sample = await openSample();
  await writeFile(join(sample.folder, "report.pdf"), "figures");
});
afterAll(() => sample.close());

const mail = { to: ["Mara Lindqvist <mara@lantern.example>"], subject: "Beta", body: "On Friday." };

describe("a mail", () => {
  it("is sent to everyone, and the result has the delivery to each", async () => {
    const args = { ...mail, cc: ["john@acme.example"], attachments: ["report.pdf"] };
    const { output } = await sample.call("gmail_send_email", args);
    expect(output).toMatchObject({
      recipients: ["john@acme.example", "mara@lantern.example"],
      delivery_status: "stored",
      delivery: [{ status: "stored", detail: expect.stringContaining("outbox") }, { status: "delivered" }],
    });
    const sent = await sample.office.mail.getMessage(output.message_id);
    expect(sent).toMatchObject({
      subject: "Beta",
      to: [{ name: "Mara Lindqvist" }],
      attachments: [{ name: "report.pdf" }],
    });
  });

  it("is sent once for each call, however often the call runs", async () => {
    const change = { idempotencyKey: `${run}/77/0` };
    const [first, second] = [
      await sample.call("gmail_send_email", mail, change),
      await sample.call("gmail_send_email", mail, change),
    ];
    expect(second.output).toEqual(first.output);
    expect((await sample.call("gmail_send_email", mail)).output.message_id).not.toBe(first.output.message_id);
  });

  it("is not sent by a dry run, which shows it", async () => {
    const before = (await sample.call("gmail_search_messages", { folder: "sent", limit: 100 })).output.messages.length;
    const { output } = await sample.call("gmail_send_email", { ...mail, dry_run: true });
    expect(output).toMatchObject({ dry_run: true, preview: { kind: "email", subject: "Beta", to: mail.to } });
    const after = (await sample.call("gmail_search_messages", { folder: "sent", limit: 100 })).output.messages.length;
    expect(after).toBe(before);
  });

  it("is answered within its thread", async () => {
    const found = (await sample.call("gmail_search_messages", { text: "contract", from: "john", limit: 1 })).output;
    const [message] = found.messages;
    const { output } = await sample.call("gmail_reply_to_message", { message_id: message.message_id, body: "Thanks." });
    expect(output).toMatchObject({ thread_id: message.thread_id, recipients: ["john@acme.example"] });
  });

  it("is stored as a draft", async () => {
    const { output } = await sample.call("gmail_create_draft", { subject: "Later" });
    const draft = await sample.office.mail.getMessage(output.draft_id);
    expect(draft).toMatchObject({ folder: "drafts", subject: "Later", thread: output.thread_id });
  });

  it("is answered, and stored as a draft, once for each call", async () => {
    const [message] = (await sample.call("gmail_search_messages", { text: "contract", from: "john", limit: 1 })).output
      .messages;
    const calls = [
      ["gmail_reply_to_message", { message_id: message.message_id, body: "Once." }, "message_id"],
      ["gmail_create_draft", { subject: "Once" }, "draft_id"],
    ] as const;
    for (const [tool, args, id] of calls) {
      const change = { idempotencyKey: `${run}/78/${tool}` };
      const first = (await sample.call(tool, args, change)).output[id];
      expect((await sample.call(tool, args, change)).output[id], tool).toBe(first);
      expect((await sample.call(tool, args)).output[id], tool).not.toBe(first);
    }
  });

  it("is found by words, person, time and page", async () => {
    const query = { from: "acme", since: "2026-02-20", limit: 1 };
    const first = (await sample.call("gmail_search_messages", query)).output;
    expect(first.messages).toMatchObject([{ from: { address: "john@acme.example" }, subject: "Re: Contract renewal" }]);
    const second = (await sample.call("gmail_search_messages", { ...query, page: first.next_page })).output;
    expect(second.messages[0].message_id).not.toBe(first.messages[0].message_id);
    const { message } = (await sample.call("gmail_get_message", { message_id: second.messages[0].message_id })).output;
    expect(message).toMatchObject({
      body: expect.stringContaining("John Carver"),
      attachments: [{ name: "acme-contract-draft.pdf" }],
    });
  });
});

describe("the delivery status", () => {
  it("is that of the last mail of the run if the call names none", async () => {
    const sent = (await sample.call("gmail_send_email", mail)).output;
    expect((await sample.call("gmail_get_delivery_status", {})).output).toEqual(sent);
    const named = await sample.call("gmail_get_delivery_status", { message_id: sent.message_id });
    expect(named.output).toEqual(sent);
  });

  it("is found after a restart by the keys of the run's calls", async () => {
    const other = run.replace(/1$/, "9");
    const sent = await sample.office.mail.sendMail(
      { to: [{ address: "mara@lantern.example" }], subject: "x", body: "x" },
      { idempotencyKey: `${other}/2/1` },
    );
    const change = { run: other, idempotencyKey: `${other}/4/0` };
    expect((await sample.call("gmail_get_delivery_status", {}, change)).output.message_id).toBe(sent.id);
  });

  it("is a params error for a run that sent nothing", async () => {
    const change = { run: "other", idempotencyKey: "other/3/0" };
    const { output, error } = await sample.call("gmail_get_delivery_status", {}, change);
    expect(output.error).toMatchObject({ type: "params", param: "message_id" });
    expect(error?.type).toBe("params");
  });
});

describe("a mail is refused with a params error", () => {
  const outside = "it is outside";
  beforeAll(async () => {
    await mkdir(join(sample.folder, "work"));
    await symlink("/etc/hostname", join(sample.folder, "link"));
  });

  it.each([
    ["no recipient", { to: [] }, "to"],
    ["an address without a domain", { to: ["mara"] }, "to.0"],
    ["a second line in an address", { to: ["mara@lantern.example\nBcc: eve@evil.example"] }, "to.0"],
    ["a second line in a name", { to: ["Mara\r\nBcc: eve@evil.example <mara@lantern.example>"] }, "to.0"],
    ["two addresses in one", { cc: ["mara@lantern.example, eve@evil.example"] }, "cc.0"],
    ["a header in the subject", { subject: "Hi\r\nBcc: eve@evil.example" }, "subject"],
    ["a control character in the subject", { subject: "Hi\u0007" }, "subject"],
    ["a body of 10 MB", { body: "x".repeat(10_000_000) }, "body"],
    ["a missing file", { attachments: ["none.pdf"] }, "attachments.0"],
    ["a folder as a file", { attachments: ["work"] }, "attachments.0"],
    ["an unknown field", { urgent: true }, null],
  ])("%s", async (_, change, param) => {
    const { output, error } = await sample.call("gmail_send_email", { ...mail, ...change });
    expect(output.error).toMatchObject({ type: "params", ...(param === null ? {} : { param }) });
    expect(error).toMatchObject({ type: "params", recoverable: false });
    expect(output.error.message.length).toBeLessThan(2_000);
  });

  it.each(["../outside.txt", "/etc/hostname", "link"])(`${outside}: %s`, async (path) => {
    const { output } = await sample.call("gmail_send_email", { ...mail, attachments: [path] });
    expect(output.error).toMatchObject({
      type: expect.stringMatching(/^(permission|params)$/),
      param: "attachments.0",
    });
  });
});

describe("the text of mails", () => {
  it("counts as written by its senders, and as private", async () => {
    const { untrusted, private: sources } = await sample.call("gmail_search_messages", { from: "john" });
    expect(untrusted).toEqual(["mail <john@acme.example>"]);
    expect(sources).toEqual(["mailbox <kim@lantern.example>"]);
    const own = await sample.call("gmail_search_messages", { folder: "sent", from: "kim", limit: 1 });
    expect(own.untrusted).toEqual([]);
  });

  it("leaves the machine with a send, by its length and its domain", () => {
    const outwardOf = (name: string, args: unknown) => sample.bind(name, args).bound.outward;
    const plain = { to: ["a@acme.example"], subject: "1234", body: "12345" };
    expect(outwardOf("gmail_send_email", plain)).toEqual({ host: "acme.example", characters: 14 + 9 });
    expect(outwardOf("gmail_send_email", { ...plain, cc: ["b@lantern.example"] })).toMatchObject({ host: null });
    expect(outwardOf("gmail_send_email", { ...plain, attachments: ["x"] })).toMatchObject({ characters: null });
    expect(outwardOf("gmail_reply_to_message", { message_id: "1", body: "12345" })).toEqual({
      host: null,
      characters: 5,
    });
    expect(outwardOf("gmail_create_draft", plain)).toBeNull();
    expect(outwardOf("gmail_send_email", { ...plain, dry_run: true })).toBeNull();
  });
});
