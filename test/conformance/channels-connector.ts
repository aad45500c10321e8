import type { ChannelsConnector, ChannelUser } from "@troupe/connectors";
import { describe, expect, test } from "vitest";

export interface SampleChannelMessage {
  id: string;
  channel: string;
  author: string;
  text: string;
  sentAt: string;
  thread: string | null;
}

export interface ChannelsHarness extends AsyncDisposable {
  /** A workspace with exactly the sample members, channels and messages. */
  channels: ChannelsConnector;
  /** The id that the service gave to a message of the sample. Absent: its own id. */
  messageId?: (sample: string) => string;
}

/** Ids of messages as the sample has them. */
function sampleIds({ messageId }: ChannelsHarness, items: readonly { id: string }[]): string[] {
  const samples = new Map(sampleChannelMessages.map(({ id }) => [messageId?.(id) ?? id, id]));
  return items.map(({ id }) => samples.get(id) ?? id);
}

function idOf({ messageId }: ChannelsHarness, sample: string): string {
  return messageId?.(sample) ?? sample;
}

const noTitle = { title: null, timeZone: null, isBot: false };
export const sampleMembers: readonly ChannelUser[] = [
  { ...noTitle, id: "U1", handle: "ana", name: "Ana Ruiz", email: "ana@acme.example", timeZone: "Europe/Madrid" },
  { ...noTitle, id: "U2", handle: "bob", name: "Bob Stone", email: "bob@acme.example" },
  { ...noTitle, id: "U3", handle: "bob2", name: "Bob Stone", email: null },
  { ...noTitle, id: "U4", handle: "deploys", name: "Deploy Bot", email: null, isBot: true },
];
export const sampleChannels = [
  { id: "C1", name: "general" },
  { id: "C2", name: "project-alpha" },
];
const at = (minute: number) => `2026-03-02T09:${String(minute).padStart(2, "0")}:00.000Z`;
export const sampleChannelMessages: readonly SampleChannelMessage[] = [
  { id: "1", channel: "C1", author: "U1", text: "Good morning all", sentAt: at(0), thread: null },
  { id: "2", channel: "C2", author: "U1", text: "Can we ship the beta on Friday?", sentAt: at(1), thread: null },
  { id: "3", channel: "C2", author: "U2", text: "The beta needs one more test", sentAt: at(2), thread: "2" },
  { id: "4", channel: "C2", author: "U4", text: "Deployed build 17", sentAt: at(3), thread: null },
  { id: "5", channel: "C2", author: "U1", text: "Then Monday <script>alert(1)</script>", sentAt: at(4), thread: "2" },
  { id: "6", channel: "C1", author: "U3", text: "Lunch at the café?", sentAt: at(5), thread: null },
];

/** The contract of the channels port, tested on each adapter. */
export function channelsConformance(create: () => Promise<ChannelsHarness>): void {
  describe("messages of a channel", () => {
    test.for(["C2", "project-alpha", "#project-alpha", "#Project-Alpha"])(
      "by %s, newest first, without replies",
      async (channel) => {
        await using harness = await create();
        const { items } = await harness.channels.channelMessages({ channel });
        expect(items).toMatchObject([
          { id: idOf(harness, "4"), author: { id: "U4", name: "Deploy Bot" }, replyCount: 0 },
          {
            id: idOf(harness, "2"),
            channel: sampleChannels[1],
            author: { name: "Ana Ruiz" },
            sentAt: at(1),
            thread: null,
            replyCount: 2,
          },
        ]);
      },
    );

    test("of a span of time, in pages", async () => {
      await using harness = await create();
      const ids = async (query: object) =>
        sampleIds(harness, (await harness.channels.channelMessages({ channel: "general", ...query })).items);
      expect(await ids({ since: at(1) })).toEqual(["6"]);
      expect(await ids({ until: at(5) })).toEqual(["1"]);
      const first = await harness.channels.channelMessages({ channel: "general", limit: 1 });
      expect(sampleIds(harness, first.items)).toEqual(["6"]);
      expect(await ids({ limit: 1, cursor: first.nextCursor })).toEqual(["1"]);
    });

    test("of an unknown channel are refused, with the most similar name", async () => {
      await using harness = await create();
      await expect(harness.channels.channelMessages({ channel: "#projekt-alpha" })).rejects.toMatchObject({
        type: "params",
        param: "channel",
        message: expect.stringContaining("project-alpha"),
      });
    });
  });

  describe("a search", () => {
    test.for([
      { search: { text: "beta" }, finds: ["3", "2"] },
      { search: { text: "friday beta" }, finds: ["2"] },
      { search: { text: '"one more"' }, finds: ["3"] },
      { search: { text: "cafe" }, finds: ["6"] },
      { search: { text: "zebra" }, finds: [] },
      { search: { from: "@ana" }, finds: ["5", "2", "1"] },
      { search: { from: "ana@acme.example", channel: "#general" }, finds: ["1"] },
      { search: { channel: "project-alpha", text: "beta", since: at(2) }, finds: ["3"] },
      { search: {}, finds: ["6", "5", "4", "3", "2", "1"] },
    ])("for $search, replies too, newest first", async ({ search, finds }) => {
      await using harness = await create();
      expect(sampleIds(harness, (await harness.channels.searchMessages(search)).items)).toEqual(finds);
    });

    test("returns pages", async () => {
      await using harness = await create();
      const first = await harness.channels.searchMessages({ text: "beta", limit: 1 });
      const second = await harness.channels.searchMessages({ text: "beta", limit: 1, cursor: first.nextCursor });
      expect([first, second].flatMap(({ items }) => sampleIds(harness, items))).toEqual(["3", "2"]);
      expect(second.nextCursor).toBeNull();
    });

    test.for([{ from: "@not-a-member" }, { channel: "#none" }, { limit: 1_000 }, { since: "monday" }])(
      "refuses %o",
      async (search) => {
        await using harness = await create();
        await expect(harness.channels.searchMessages(search)).rejects.toMatchObject({ type: "params" });
      },
    );
  });

  test("a thread has its first message and all replies, oldest first, in pages", async () => {
    await using harness = await create();
    const thread = { channel: "#project-alpha", message: idOf(harness, "2") };
    const all = await harness.channels.threadReplies(thread);
    expect(sampleIds(harness, all.items)).toEqual(["2", "3", "5"]);
    expect(all.items[2]?.text).toBe("Then Monday <script>alert(1)</script>");
    const first = await harness.channels.threadReplies({ ...thread, limit: 2 });
    const second = await harness.channels.threadReplies({ ...thread, limit: 2, cursor: first.nextCursor });
    expect([...first.items, ...second.items]).toEqual(all.items);
    const alone = await harness.channels.threadReplies({ channel: "general", message: idOf(harness, "1") });
    expect(sampleIds(harness, alone.items)).toEqual(["1"]);
    const unknown = harness.channels.threadReplies({ ...thread, message: "99" });
    await expect(unknown).rejects.toMatchObject({ type: "params", param: "message" });
  });

  describe("a member", () => {
    test.for(["U1", "ana", "@ana", "ANA@acme.example", "Ana Ruiz", "ana ruiz"])("is found by %s", async (user) => {
      await using harness = await create();
      expect(await harness.channels.userInfo(user)).toEqual(sampleMembers[0]);
    });

    test("with a name of two members is refused, with both handles", async () => {
      await using harness = await create();
      await expect(harness.channels.userInfo("Bob Stone")).rejects.toMatchObject({
        type: "params",
        message: expect.stringContaining("@bob, @bob2"),
      });
    });

    test("with an unknown name is refused", async () => {
      await using harness = await create();
      await expect(harness.channels.userInfo("zoe")).rejects.toMatchObject({ type: "params", param: "user" });
    });
  });

  describe("a post", () => {
    const beta = { channel: "#Project-Alpha", text: "Beta <b>is out</b> & ready:\n\t@ana" };
    const texts = async ({ channels }: ChannelsHarness, channel: string) =>
      (await channels.channelMessages({ channel })).items.map(({ text }) => text);

    test("is the newest message of its channel, with its text as it is", async () => {
      await using harness = await create();
      const posted = await harness.channels.postMessage(beta, { idempotencyKey: "k1" });
      expect(posted).toMatchObject({ channel: sampleChannels[1], text: beta.text, thread: null, replyCount: 0 });
      const { items } = await harness.channels.channelMessages({ channel: "project-alpha" });
      expect(items[0]).toEqual(posted);
      const { items: found } = await harness.channels.searchMessages({ text: "ready", from: posted.author.id });
      expect(found).toEqual([posted]);
      expect(await harness.channels.userInfo(posted.author.id)).toMatchObject({ name: posted.author.name });
    });

    test("happens once for a key, and a new key posts again", async () => {
      await using harness = await create();
      const first = await harness.channels.postMessage(beta, { idempotencyKey: "k1" });
      expect(await harness.channels.postMessage(beta, { idempotencyKey: "k1" })).toEqual(first);
      const reply = { ...beta, thread: idOf(harness, "2") };
      const answered = await harness.channels.postMessage(reply, { idempotencyKey: "k2" });
      expect(await harness.channels.postMessage(reply, { idempotencyKey: "k2" })).toEqual(answered);
      await harness.channels.postMessage(beta, { idempotencyKey: "k3" });
      expect(await texts(harness, "C2")).toEqual([beta.text, beta.text, "Deployed build 17", expect.any(String)]);
      expect((await harness.channels.threadReplies({ channel: "C2", message: idOf(harness, "2") })).items).toHaveLength(
        4,
      );
    });

    test("with the key of another content is refused", async () => {
      await using harness = await create();
      await harness.channels.postMessage(beta, { idempotencyKey: "k1" });
      const other = harness.channels.postMessage({ ...beta, text: "Beta is late" }, { idempotencyKey: "k1" });
      await expect(other).rejects.toMatchObject({ type: "params", param: "idempotencyKey" });
      expect(await texts(harness, "C2")).toHaveLength(3);
    });

    test.for(["2", "3"])("answers message %s in its thread", async (thread) => {
      await using harness = await create();
      const reply = { ...beta, thread: idOf(harness, thread) };
      const posted = await harness.channels.postMessage(reply, { idempotencyKey: "k1" });
      expect(posted.thread).toBe(idOf(harness, "2"));
      const { items } = await harness.channels.threadReplies({ channel: "C2", message: idOf(harness, "2") });
      expect(sampleIds(harness, items)).toEqual(["2", "3", "5", posted.id]);
      expect(await texts(harness, "C2")).toHaveLength(2);
    });

    test("of 40,000 characters is kept whole", async () => {
      await using harness = await create();
      const text = `${"word ".repeat(7_999)}words`;
      const posted = await harness.channels.postMessage({ ...beta, text }, { idempotencyKey: "k1" });
      expect(posted.text).toBe(text);
    });

    test.for([
      { change: { channel: "#projekt-alpha" }, param: "channel", message: "project-alpha" },
      { change: { thread: "99" }, param: "thread", message: "99" },
      { change: { text: " \n" }, param: "text", message: "empty" },
      { change: { text: "bell \u0007" }, param: "text", message: "control character" },
      { change: { text: "return \r" }, param: "text", message: "control character" },
      { change: { text: "a".repeat(40_001) }, param: "text", message: "longer than 40000 characters" },
    ])("is refused for a wrong $param, and changes nothing: $message", async ({ change, param, message }) => {
      await using harness = await create();
      const refused = harness.channels.postMessage({ ...beta, ...change }, { idempotencyKey: "k1" });
      await expect(refused).rejects.toMatchObject({ type: "params", param, message: expect.stringContaining(message) });
      const { items } = await harness.channels.searchMessages({});
      expect(items).toHaveLength(sampleChannelMessages.length);
    });

    test("without a key is refused", async () => {
      await using harness = await create();
      const refused = harness.channels.postMessage(beta, { idempotencyKey: "" });
      await expect(refused).rejects.toMatchObject({ type: "params", param: "idempotencyKey" });
    });
  });
}
