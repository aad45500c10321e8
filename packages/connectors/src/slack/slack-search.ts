import type { z } from "zod";
import { wrongCursor } from "../local/database/cursor.ts";
import type { ChannelMessage, ChannelSearch } from "../ports/channels.ts";
import type { Page } from "../ports/page.ts";
import type { SlackChannel } from "./slack-directory.ts";
import { type SlackScope, spanArgs, toMessages } from "./slack-messages.ts";
import { MessageList, msOfTs, SearchAnswer, type SlackMessage } from "./slack-shapes.ts";

type Search = z.output<typeof ChannelSearch>;

const dayMs = 86_400_000;
/** Slack did not exist before. A search needs at least one condition. */
const firstDay = "2013-01-01";

/** Searches with Slack's own index, which only user tokens may use. */
export async function searchByIndex(scope: SlackScope, search: Search): Promise<Page<ChannelMessage>> {
  const page = pageNumber(search.cursor);
  const args = { query: await queryOf(scope, search), sort: "timestamp", sort_dir: "desc", count: search.limit, page };
  const { messages } = await scope.call("search.messages", args, SearchAnswer);
  const items: ChannelMessage[] = [];
  for (const match of messages.matches) {
    if (match.channel.is_im || match.channel.is_mpim || !isWithin(match.ts, search)) continue;
    const channel = { id: match.channel.id, name: match.channel.name ?? match.channel.id };
    const thread_ts = match.thread_ts ?? threadInLink(match.permalink);
    items.push(...(await toMessages(scope, channel, [{ ...match, thread_ts }])));
  }
  const { page: shown, pages } = messages.paging;
  return { items, nextCursor: shown < pages ? `${page + 1}` : null };
}

function pageNumber(cursor: string | null): number {
  if (cursor === null) return 1;
  if (!/^[1-9]\d{0,2}$/.test(cursor)) throw wrongCursor(cursor);
  return Number(cursor);
}

/** The search language of Slack. Its days are exclusive and in the user's zone, so they are widened, and results filtered. */
async function queryOf({ directory }: SlackScope, { text, channel, from, since, until }: Search): Promise<string> {
  const day = (iso: string, shiftMs: number) => new Date(Date.parse(iso) + shiftMs).toISOString().slice(0, 10);
  const parts = [
    ...partsOf(text).map((part) => (/^[\p{L}\p{N}]+$/u.test(part) ? part : `"${part}"`)),
    ...(channel === null ? [] : [`in:<#${(await directory.findChannel(channel)).id}>`]),
    ...(from === null ? [] : [`from:<@${(await directory.findUser(from)).id}>`]),
    ...(since === null ? [] : [`after:${day(since, -2 * dayMs)}`]),
    ...(until === null ? [] : [`before:${day(until, 2 * dayMs)}`]),
  ];
  return parts.length === 0 ? `after:${firstDay}` : parts.join(" ");
}

/** Words and quoted parts with at least one letter or digit. */
function partsOf(text: string): string[] {
  const parts = [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, phrase, word]) => phrase ?? word ?? "");
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(part)).slice(0, partsMax);
}

const partsMax = 32;

function isWithin(ts: string, { since, until }: Pick<Search, "since" | "until">): boolean {
  const atMs = msOfTs(ts);
  return (since === null || atMs >= Date.parse(since)) && (until === null || atMs < Date.parse(until));
}

function threadInLink(permalink: string | null | undefined): string | null {
  return /[?&]thread_ts=(\d{1,12}\.\d{1,9})/.exec(permalink ?? "")?.[1] ?? null;
}

const scannedChannelsMax = 20;
const scannedMessagesMax = 1_000;
const scannedThreadsMax = 50;
const pageSize = 200;

/**
 * Searches without Slack's index, for bot tokens: reads the newest messages of the channels that the account is a member of,
 * with their threads, and compares words.
 */
export async function searchByReading(scope: SlackScope, search: Search): Promise<Page<ChannelMessage>> {
  const { directory } = scope;
  if (search.cursor !== null && !/^\d{1,12}\.\d{1,9}$/.test(search.cursor)) throw wrongCursor(search.cursor);
  const author = search.from === null ? null : (await directory.findUser(search.from)).id;
  const channels =
    search.channel === null
      ? (await directory.channels()).filter(({ isMember }) => isMember).slice(0, scannedChannelsMax)
      : [await directory.findChannel(search.channel)];
  const words = partsOf(search.text).map(plain);
  const before = search.cursor;
  const isHit = ({ ts, text, user }: SlackMessage) =>
    isWithin(ts, search) &&
    (before === null || Number(ts) < Number(before)) &&
    (author === null || user === author) &&
    words.every((word) => hasWord(plain(text ?? ""), word));
  const hits: { channel: SlackChannel; message: SlackMessage }[] = [];
  for (const channel of channels) {
    const messages = await readNewest(scope, channel, search);
    hits.push(...messages.filter(isHit).map((message) => ({ channel, message })));
  }
  hits.sort((a, b) => Number(b.message.ts) - Number(a.message.ts));
  const shown = hits.slice(0, search.limit);
  const items: ChannelMessage[] = [];
  for (const { channel, message } of shown) items.push(...(await toMessages(scope, channel, [message])));
  return { items, nextCursor: hits.length > shown.length ? (shown.at(-1)?.message.ts ?? null) : null };
}

/** The newest messages of a channel, with the replies in their threads. */
async function readNewest(
  { call }: SlackScope,
  { id: channel }: SlackChannel,
  search: Search,
): Promise<SlackMessage[]> {
  const found = new Map<string, SlackMessage>();
  let cursor = {};
  do {
    const args = { channel, limit: pageSize, ...spanArgs({ since: null, until: search.until }), ...cursor };
    const { messages, response_metadata } = await call("conversations.history", args, MessageList);
    for (const message of messages) found.set(message.ts, message);
    const isPastSpan = search.since !== null && messages.some(({ ts }) => msOfTs(ts) < Date.parse(search.since ?? ""));
    if (!response_metadata?.next_cursor || isPastSpan) break;
    cursor = { cursor: response_metadata.next_cursor };
  } while (found.size < scannedMessagesMax);
  const threads = [...found.values()].filter(({ reply_count }) => (reply_count ?? 0) > 0).slice(0, scannedThreadsMax);
  for (const { ts } of threads) {
    const { messages } = await call("conversations.replies", { channel, ts, limit: pageSize }, MessageList);
    for (const message of messages) found.set(message.ts, message);
  }
  return [...found.values()];
}

/** Lower case, without accents. */
function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Whether the text has the word or phrase, from the beginning of a word on. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "")) return true;
  }
  return false;
}
