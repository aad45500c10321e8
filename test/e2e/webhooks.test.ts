/** Webhooks of real daemons: the commands, and their messages after a kill -9. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Webhook } from "standardwebhooks";
import { describe, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { askingPolicy, startKillableScriptedDaemon, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { startWebhookReceiver } from "../harness/webhook-receiver.ts";

const agents = {
  main: [
    {
      when: { task: "ask first" },
      steps: [{ calls: [{ tool: "shell", args: { command: "true" } }] }, { text: "It ran." }],
    },
    { steps: [{ text: "Hello." }] },
  ],
};

describe("the commands about webhooks", () => {
  it("add, test, list and remove", async (test) => {
    const { expect } = test;
    const receiver = await startWebhookReceiver(test);
    const { home, client } = await startScriptedDaemon({ test, agents, files: askingPolicy });
    const run = (...args: string[]) => troupe(["webhooks", ...args], { home });
    const added = await run("add", receiver.url, "--json");
    expect(added).toMatchObject({ code: 0 });
    const { webhook, secret } = JSON.parse(added.stdout);
    expect(await run("test", webhook.id.slice(0, 13))).toMatchObject({
      ...{ code: 0, stdout: "delivered: the receiver answered 204\n" },
    });
    await client.submit({ task: "ask first" });
    await expect
      .poll(() => receiver.received.map(({ event }) => event.type))
      .toEqual(["webhook.test", "approval.requested"]);
    const approval = String(receiver.received[1]?.event.data.approval?.id);
    await client.answer(approval, { approved: true });
    await expect
      .poll(() => receiver.received.at(-1)?.event)
      .toMatchObject({
        type: "session.settled",
        data: { session: { status: "completed" } },
      });
    for (const { headers, body } of receiver.received) {
      expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
      const forged = { ...headers, "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}` };
      expect(() => new Webhook(secret).verify(body, forged)).toThrow();
    }
    await expect
      .poll(async () => (await run("ls")).stdout)
      .toMatch(/ 0 +2 +0 +session\.settled,approval\.requested +http/);
    const log = await readFile(path.join(home, "logs", "troupe.log"), "utf8").catch(() => "");
    expect((await run("ls", "--json")).stdout + log).not.toContain(secret);
    expect(await run("rm", webhook.id)).toMatchObject({ code: 0 });
    expect((await run("ls")).stderr).toContain("no webhooks yet");
  });

  it("say what is wrong", async (test) => {
    const { expect } = test;
    const { home, stop } = await startScriptedDaemon({ test, agents });
    const run = (...args: string[]) => troupe(["webhooks", ...args], { home });
    expect(await run("add", "ftp://example.org")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("http://"),
    });
    const events = await run("add", "https://example.org", "--events", "all");
    expect(events).toMatchObject({ code: 2, stderr: expect.stringContaining("session.settled,approval.requested") });
    expect(await run("rm", "0199")).toMatchObject({ code: 2, stderr: expect.stringContaining("troupe webhooks ls") });
    await stop();
    expect(await run("add", "https://example.org")).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("troupe up"),
    });
  });
});

describe("messages that were given up", () => {
  it("are named by the doctor with the command that sends them again", async (test) => {
    const { expect } = test;
    const receiver = await startWebhookReceiver(test);
    receiver.answerWith(410);
    const { home, client } = await startScriptedDaemon({ test, agents });
    const { webhook } = await client.webhooks.add({ url: receiver.url, events: ["session.settled"] });
    await client.submit({ task: "one" });
    await expect.poll(() => client.webhooks.list()).toMatchObject([{ dead: 1 }]);
    const words = ["webhooks", "resend", webhook.id];
    expect((await troupe(["doctor"], { home })).stdout).toContain(`troupe ${words.join(" ")}`);
    receiver.answerWith(204);
    expect(await troupe(words, { home })).toEqual({
      code: 0,
      stdout: "1 message is sent again: troupe webhooks ls\n",
      stderr: "",
    });
    await expect.poll(() => client.webhooks.list()).toMatchObject([{ dead: 0, delivered: 1 }]);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    const { code, stdout } = await troupe([...words, "--json"], { home });
    expect([code, JSON.parse(stdout)]).toEqual([0, { id: webhook.id, resent: 0, left: 0 }]);
  });
});

describe("after a kill -9 of the daemon", () => {
  it("open messages are sent with the same id, and the doctor names failures", async (test) => {
    const { expect } = test;
    const receiver = await startWebhookReceiver(test);
    receiver.answerWith(500);
    const daemon = await startKillableScriptedDaemon({ test, agents });
    const { webhook } = await daemon.client.webhooks.add({ url: receiver.url, events: ["session.settled"] });
    const refused = await daemon.client.submit({ task: "one" });
    await expect.poll(() => receiver.received.length).toBe(1);
    receiver.answerWith(null);
    const hanging = await daemon.client.submit({ task: "two" });
    await expect.poll(() => receiver.received.length).toBe(2);
    await daemon.kill();
    expect((await troupe(["doctor"], { home: daemon.home })).stdout).toContain(`troupe webhooks test ${webhook.id}`);
    receiver.answerWith(204);
    const { client } = await daemon.startAgain();
    await expect.poll(() => client.webhooks.list()).toMatchObject([{ id: webhook.id, delivered: 2, open: 0, dead: 0 }]);
    const sent = receiver.received.map(({ id, event }) => [id, event.data.session?.session]);
    expect(sent.map(([, session]) => session).sort()).toEqual(
      [refused, refused, hanging, hanging].map((one) => one.session).sort(),
    );
    expect(new Set(sent.map(String)).size).toBe(2);
  });

  it("a webhook of the configuration gets the event of a session that settles after the restart", async (test) => {
    const { expect } = test;
    const receiver = await startWebhookReceiver(test);
    const secret = `whsec_${Buffer.alloc(24, 5).toString("base64")}`;
    const config = `webhooks: [{url: "${receiver.url}", events: [session.settled], secretVariable: HOOK_KEY}]\n`;
    const files = { ...askingPolicy, "config.yaml": config };
    const daemon = await startKillableScriptedDaemon({ test, agents, files, env: { HOOK_KEY: secret } });
    const { session } = await daemon.client.submit({ task: "ask first" });
    await expect.poll(async () => (await daemon.client.approvals()).approvals).toHaveLength(1);
    await daemon.kill();
    const { client } = await daemon.startAgain();
    const [approval] = (await client.approvals()).approvals;
    await client.answer(approval?.id ?? "", { approved: true });
    await expect.poll(() => receiver.received.map(({ event }) => event.data.session?.session)).toEqual([session]);
    const [{ body, headers } = { body: "", headers: {} }] = receiver.received;
    expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
  });
});
