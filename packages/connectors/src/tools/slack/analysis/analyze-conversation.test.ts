/** The analysis on the channels of the sample office, and on texts that are hard to read. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChannelMessage } from "../../../ports/channels.ts";
import { openSample, type Sample } from "../../office-tools.test-helper.ts";
import { analyzeConversation } from "./analyze-conversation.ts";

let sample: Sample;
beforeAll(async () => {
  sample = await openSample();
});
afterAll(() => sample.close());

const analyze = async (args: object) => (await sample.call("slack_analyze_conversation", args)).output;

describe("the analysis of #project-alpha", () => {
  it("has its participants, with the replies in threads", async () => {
    const { channel, message_count, participants, partial } = await analyze({ channel: "project-alpha" });
    expect([channel, message_count, partial]).toEqual(["project-alpha", 18, false]);
    expect(participants[0]).toEqual({ name: "Jonas Weber", messages: 6 });
    expect(participants.map(({ name }: { name: string }) => name)).toContain("Aiko Tanaka");
  });

  it("has the decisions, with their questions, and no question as a decision", async () => {
    const { decisions } = await analyze({ channel: "project-alpha" });
    expect(decisions).toMatchObject([
      { author: "Mara Lindqvist", text: "We decided in the review: no tablet layout in the beta.", about: null },
      { author: "Tomás Herrera", text: "Agreed, own table.", about: expect.stringContaining("push tokens") },
    ]);
  });

  it("has the action items, with the person and the time", async () => {
    const { action_items } = await analyze({ channel: "project-alpha" });
    const items = action_items.map(({ person, text, due }: Record<string, unknown>) => [person, text, due]);
    expect(items).toEqual([
      ["Jonas Weber", "@jonas can you do that before Friday?", "before Friday"],
      [null, "Feedback until Thursday, please.", "until Thursday"],
      ["Priya Raman", "Yes, I merge steps 2 and 3.", null],
      ["Tomás Herrera", "I migrate tonight.", "tonight"],
      ["Jonas Weber", "I add crash reports for them today.", "today"],
    ]);
  });

  it("has topics without stop words, and questions with their answers", async () => {
    const { topics, questions, quotes } = await analyze({ channel: "project-alpha" });
    expect(topics[0]).toEqual({ topic: "beta", messages: 3 });
    expect(topics.map(({ topic }: { topic: string }) => topic)).toEqual(expect.arrayContaining(["crash", "table"]));
    const store = questions.find(({ text }: { text: string }) => text.includes("in the store"));
    expect(store).toMatchObject({
      answered: true,
      answer: { author: "Jonas Weber", text: "In review, it takes a day." },
    });
    expect(quotes[0].replies).toBe(2);
  });
});

it("counts only the messages of the span and the limit", async () => {
  const { message_count } = await analyze({ channel: "project-alpha", time_range: "2d" });
  expect(message_count).toBeLessThan(18);
  expect(await analyze({ channel: "project-alpha", limit: 1 })).toMatchObject({ partial: true, message_count: 3 });
});

it("says that an empty channel has no messages", async () => {
  const empty = await analyze({ channel: "sales", since: "2020-01-01", until: "2020-01-02" });
  expect(empty).toMatchObject({ message_count: 0, participants: [], topics: [], decisions: [], partial: false });
});

const message = (text: string, change: Partial<ChannelMessage> = {}): ChannelMessage => ({
  ...{ id: text.slice(0, 20), channel: { id: "c", name: "c" }, author: { id: "ana", name: "Ana" }, text },
  ...{ sentAt: "2026-03-01T00:00:00.000Z", thread: null, replyCount: 0, reactions: [] },
  ...change,
});

describe("a message", () => {
  it.each([
    ["Decision: we ship on Monday.", 1],
    ["We've agreed on plan B.", 1],
    ["Let's go with the blue one", 1],
    ["Have we agreed on a date?", 0],
    ["Nothing decided yet.", 0],
    ["Decision is pending.", 0],
  ])("%j states %d decisions", (text, count) => {
    expect(analyzeConversation([message(text)]).decisions).toHaveLength(count);
  });

  it.each([
    ["I'll send the offer by Friday.", "Ana", "by Friday"],
    ["TODO: update the docs", null, null],
    ["@leon please review the draft tomorrow", "leon", "tomorrow"],
    ["I sent it yesterday.", undefined, null],
    ["I like the send button.", undefined, null],
  ])("%j is an action item of %s", (text, person, due) => {
    const [item] = analyzeConversation([message(text)]).action_items;
    expect(item && { person: item.person, due: item.due }).toEqual(person === undefined ? undefined : { person, due });
  });

  it("without an answer is an open question, and comes first", () => {
    const asked = message("Is it done?", { id: "1" });
    const answer = message("Yes.", {
      id: "2",
      thread: "1",
      author: { id: "bo", name: "Bo" },
      sentAt: "2026-03-02T00:00:00.000Z",
    });
    const open = message("Who tests it?", { id: "3", sentAt: "2026-03-03T00:00:00.000Z" });
    const { questions } = analyzeConversation([open, answer, asked]);
    expect(questions.map(({ text, answered }) => [text, answered])).toEqual([
      ["Who tests it?", false],
      ["Is it done?", true],
    ]);
  });

  it("has its links once", () => {
    const { links } = analyzeConversation([
      message("See https://a.example/x), and https://a.example/x."),
      message("<https://b.example|b>", { sentAt: "2026-03-02T00:00:00.000Z" }),
    ]);
    expect(links.map(({ url }) => url)).toEqual(["https://a.example/x", "https://b.example"]);
  });

  it("with a long run of signs is read in a moment", () => {
    const text = `${"@a can you ".repeat(3_000)}${"((".repeat(5_000)}?`;
    expect(analyzeConversation([message(text)]).message_count).toBe(1);
  });
});
