import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { bullets, countOf, listOf, oneLine, someOf } from "../../base/wording.ts";
import { ChannelWindow, windowArgs, windowOf, windowText } from "./channel-window.ts";
import { FoundPosts } from "./found-posts.ts";

/** A point of a conversation: a text, or the text of a message with its author. */
const Point = z
  .union([z.string(), z.object({ text: z.string(), author: z.string().nullish() })])
  .transform((point) =>
    typeof point === "string"
      ? oneLine(point, 300)
      : `${oneLine(point.text, 300)}${point.author ? ` (${oneLine(point.author)})` : ""}`,
  );
const points = z.array(Point).catch([]);

const Analysis = z.object({
  message_count: z.number(),
  participants: z.array(z.object({ name: z.string(), messages: z.number() })).default([]),
  topics: z.array(z.union([z.string(), z.object({ topic: z.string() }).transform(({ topic }) => topic)])).catch([]),
  decisions: points.default([]),
  questions: points.default([]),
  action_items: points.default([]),
});
type Analysis = z.output<typeof Analysis>;

const hourMs = 3_600_000;

/** Reads a channel and sums up what was discussed and decided. */
export const summarizePlan: RequestPlan = {
  expectedFormat: "A summary with the participants, topics, decisions, open questions and tasks.",
  criteria: { messages: "The messages are read.", message_count: "The conversation is analyzed." },
  prepare: ({ params }) => windowOf(params),
  *work({ params, read, request, timeZone }) {
    const window = ChannelWindow.parse(params);
    const args = windowArgs(window);
    const { messages } = yield* read(FoundPosts, "slack_get_channel_messages", args, "Reads the channel.");
    const where = `#${oneLine(window.channel)}`;
    const when = windowText(window, timeZone);
    if (messages.length === 0) {
      return {
        summary: `${where} has no messages to sum up: ${when}.`,
        missing: ["The channel has no messages in that time."],
      };
    }
    const time_range =
      window.time_range ??
      `${Math.max(1, Math.ceil((request.nowMs - Date.parse(window.range?.from ?? "")) / hourMs))}h`;
    const { channel, limit } = window;
    const analysis = yield* read(
      Analysis,
      "slack_analyze_conversation",
      { channel, time_range, limit },
      "Sums up the conversation.",
    );
    // The analysis ends now, whatever the request says.
    const isEarlier = window.range !== undefined && Date.parse(window.range.to) < request.nowMs;
    return {
      summary: `${where} has ${countOf(analysis.message_count, "message")} by ${countOf(analysis.participants.length, "person", "people")}: ${when}.${outcome(analysis)}`,
      details: sections(analysis),
      assumptions: isEarlier ? ["the analysis also covers the messages since then"] : [],
    };
  },
};

function outcome({ decisions, questions, action_items }: Analysis): string {
  const counts = [
    ...(decisions.length > 0 ? [countOf(decisions.length, "decision")] : []),
    ...(action_items.length > 0 ? [countOf(action_items.length, "task")] : []),
    ...(questions.length > 0 ? [countOf(questions.length, "question")] : []),
  ];
  return counts.length === 0 ? "" : ` It has ${listOf(counts)}.`;
}

function sections({ participants, topics, decisions, questions, action_items }: Analysis): string {
  const people = participants.map(({ name, messages }) => `${oneLine(name)} (${messages})`);
  const lists: readonly [string, readonly string[]][] = [
    ["Decisions", decisions],
    ["Tasks", action_items],
    ["Questions", questions],
  ];
  return [
    ...(topics.length > 0
      ? [
          `Topics: ${someOf(
            topics.map((topic) => oneLine(topic)),
            8,
          )}.`,
        ]
      : []),
    ...(people.length > 0 ? [`People: ${someOf(people, 8)}.`] : []),
    ...lists.flatMap(([title, items]) => (items.length > 0 ? [`${title}:\n\n${bullets(items)}`] : [])),
  ].join("\n\n");
}
