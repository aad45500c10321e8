import type { ChannelMessage } from "../../../ports/channels.ts";

/** A message and the messages of its thread after it. */
export interface ReadMessage {
  message: ChannelMessage;
  /** The first message of its thread, if it is a reply. */
  root: ChannelMessage | null;
  /** Later messages of the same thread, oldest first. */
  after: readonly ChannelMessage[];
}

/** Messages of a channel in the order of their time, each with its thread. */
export function toConversation(messages: readonly ChannelMessage[]): ReadMessage[] {
  const ordered = [...new Map(messages.map((message) => [message.id, message])).values()].toSorted((a, b) =>
    a.sentAt === b.sentAt ? compare(a.id, b.id) : compare(a.sentAt, b.sentAt),
  );
  const threads = Map.groupBy(ordered, ({ id, thread }) => thread ?? id);
  return ordered.map((message) => {
    const thread = threads.get(message.thread ?? message.id) ?? [];
    const root = message.thread === null ? null : (thread.find(({ id }) => id === message.thread) ?? null);
    return { message, root, after: thread.slice(thread.indexOf(message) + 1) };
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The parts of a text that are read as one thought. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

const excerptCharactersMax = 300;

/** The fields by which a reader finds a message again. */
export function reference({ id, author, sentAt }: ChannelMessage) {
  return { author: author.name, message_id: id, sent_at: sentAt };
}

export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= excerptCharactersMax ? line : `${line.slice(0, excerptCharactersMax - 1)}…`;
}
