import type { ChannelMessage } from "../../../ports/channels.ts";
import { toConversation } from "./conversation.ts";
import { findActionItems, findDecisions, findLinks, findQuestions, findQuotes } from "./findings.ts";
import { findTopics } from "./topics.ts";

/**
 * Extracts the findings of a conversation by rules, without a model. The texts are those of the members.
 *
 * @example
 * const { decisions, action_items } = analyzeConversation(messages);
 */
export function analyzeConversation(messages: readonly ChannelMessage[]) {
  const conversation = toConversation(messages);
  const authors = Map.groupBy(conversation, ({ message }) => message.author.id);
  const participants = [...authors.values()]
    .map((written) => ({ name: written[0]?.message.author.name ?? "", messages: written.length }))
    .toSorted((a, b) => b.messages - a.messages || a.name.localeCompare(b.name));
  return {
    message_count: conversation.length,
    participants,
    topics: findTopics(conversation),
    decisions: findDecisions(conversation),
    questions: findQuestions(conversation),
    action_items: findActionItems(conversation),
    links: findLinks(conversation),
    quotes: findQuotes(conversation),
  };
}
