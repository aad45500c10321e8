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
/** Answered questions are left out. */
const openQuestions = z
  .array(z.union([z.string(), z.looseObject({ answered: z.boolean().default(false) })]))
  .transform((all): unknown => all.filter((each) => typeof each === "string" || !each.answered))
  .pipe(points)
  .catch([]);

export const Analysis = z.object({
  message_count: z.number(),
  participants: z.array(z.object({ name: z.string(), messages: z.number() })).default([]),
  topics: z.array(z.union([z.string(), z.object({ topic: z.string() }).transform(({ topic }) => topic)])).catch([]),
  decisions: points.default([]),
  questions: openQuestions,
  action_items: points.default([]),
});
type Analysis = z.output<typeof Analysis>;

/** Reads a channel and sums up its topics, decisions and tasks. */
export const summarizePlan: RequestPlan = {
  expectedFormat: "A summary with the participants, topics, decisions, open questions and tasks.",
  criteria: { messages: "The messages are read.", message_count: "The conversation is analyzed." },
  prepare: ({ params }) => windowOf(params),
  *work({ params, read, timeZone }) {
    const window = ChannelWindow.parse(params);
    const args = windowArgs(window);
    const { messages } = yield* read(FoundPosts, "slack_get_channel_messages", args, "Reads the channel.");
    const where = `#${oneLine(window.channel)}`;
    const when = windowText(window, timeZone);
    if (messages.length === 0) {
      return {
        summary: `${where} has no messages to sum up ${when}.`,
        missing: ["The channel has no messages in that time."],
      };
    }
    const analysis = yield* read(Analysis, "slack_analyze_conversation", args, "Sums up the conversation.");
    return {
      summary: `${where} has ${countOf(analysis.message_count, "message")} by ${countOf(analysis.participants.length, "person", "people")} ${when}.${outcome(analysis)}`,
      details: analysisText(analysis),
    };
  },
};

function outcome({ decisions, questions, action_items }: Analysis): string {
  const counts = [
    ...(decisions.length > 0 ? [countOf(decisions.length, "decision")] : []),
    ...(action_items.length > 0 ? [countOf(action_items.length, "task")] : []),
    ...(questions.length > 0 ? [countOf(questions.length, "open question")] : []),
  ];
  return counts.length === 0 ? "" : ` It has ${listOf(counts)}.`;
}

/** The findings as lists. */
export function analysisText({ participants, topics, decisions, questions, action_items }: Analysis): string {
  const people = participants.map(({ name, messages }) => `${oneLine(name)} (${messages})`);
  const lists: readonly [string, readonly string[]][] = [
    ["Decisions", decisions],
    ["Tasks", action_items],
    ["Open questions", questions],
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
