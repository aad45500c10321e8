import { didYouMean } from "@troupe/core/internal";
import type { z } from "zod";
import {
  type ChannelMessage,
  ChannelQuery,
  ChannelSearch,
  type ChannelsConnector,
  type ChannelUser,
  NewChannelMessage,
  ThreadQuery,
} from "../../ports/channels.ts";
import { ChangeOptions } from "../../ports/connection.ts";
import { ConnectorError, parseParams } from "../../ports/connector-error.ts";
import type { Page } from "../../ports/page.ts";
import { toIso } from "../../time/zoned-instant.ts";
import { type SqlCondition, spanConditions } from "../database/conditions.ts";
import { numbersIn, pageOf } from "../database/cursor.ts";
import { columnQuery } from "../database/full-text.ts";
import type { OfficeDatabase } from "../database/office-database.ts";
import { timeOfPosition } from "../database/positions.ts";
import { actOnce } from "../database/receipts.ts";
import { type LocalAccount, localStatus } from "../local-account.ts";
import { shortHash } from "../mail/mail-store.ts";
import { addChannelMessage, putMember, scopeToken } from "./channel-store.ts";

/** The channels of a local office. */
export function createLocalChannels(account: LocalAccount): ChannelsConnector {
  const { database } = account;
  return {
    status: async () => localStatus(account, "messages stay in the local office", true),
    channelMessages: async (query) => channelMessages(database, parseParams(ChannelQuery, query)),
    searchMessages: async (search) => searchChannels(database, parseParams(ChannelSearch, search)),
    threadReplies: async (query) => threadReplies(database, parseParams(ThreadQuery, query)),
    userInfo: async (user) => toUser(findMember(database, String(user))),
    postMessage: async (message, options) =>
      postMessage(account, parseParams(NewChannelMessage, message), parseParams(ChangeOptions, options).idempotencyKey),
  };
}

interface MessageRow {
  position: number;
  id: string;
  channel: string;
  channel_name: string;
  author: string;
  author_name: string | null;
  text: string;
  thread: string | null;
  reactions: string;
  reply_count: number;
}

const messageColumns = `m.position, m.id, m.channel, c.name AS channel_name, m.author, u.name AS author_name, m.text, m.thread,
  m.reactions, (SELECT count(*) FROM channel_messages r WHERE r.channel = m.channel AND r.thread = m.id) AS reply_count`;
const joins = "JOIN channels c ON c.id = m.channel LEFT JOIN members u ON u.id = m.author";

function toChannelMessage(row: MessageRow): ChannelMessage {
  return {
    id: row.id,
    channel: { id: row.channel, name: row.channel_name },
    author: { id: row.author, name: row.author_name ?? row.author },
    text: row.text,
    sentAt: toIso(timeOfPosition(row.position)),
    thread: row.thread,
    replyCount: row.reply_count,
    reactions: JSON.parse(row.reactions),
  };
}

function readMessages(
  database: OfficeDatabase,
  limit: number,
  { source, conditions, order }: { source: string; conditions: SqlCondition[]; order: string },
): Page<ChannelMessage> {
  const rows = database.all<MessageRow>(
    `SELECT ${messageColumns} FROM ${source} ${joins} WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}
      ORDER BY ${order} LIMIT ?`,
    ...conditions.flatMap(({ values }) => values),
    limit + 1,
  );
  return pageOf(rows, limit, toChannelMessage, (row) => `${row.position}`);
}

function channelMessages(database: OfficeDatabase, query: z.output<typeof ChannelQuery>): Page<ChannelMessage> {
  const channel = findChannel(database, query.channel);
  const ofChannel = { sql: "m.channel = ? AND m.thread IS NULL", values: [channel] };
  const conditions = [ofChannel, ...spanConditions(query, "m.position")];
  return readMessages(database, query.limit, { source: "channel_messages m", conditions, order: "m.position DESC" });
}

function searchChannels(database: OfficeDatabase, search: z.output<typeof ChannelSearch>): Page<ChannelMessage> {
  const words = [
    ...columnQuery("text", search.text),
    ...(search.channel === null ? [] : [`scope : ${scopeToken("channel", findChannel(database, search.channel))}`]),
    ...(search.from === null ? [] : [`scope : ${scopeToken("author", findMember(database, search.from).id)}`]),
  ];
  if (words.length === 0) {
    const conditions = [{ sql: "1", values: [] }, ...spanConditions(search, "m.position")];
    return readMessages(database, search.limit, { source: "channel_messages m", conditions, order: "m.position DESC" });
  }
  const matches = { sql: "channel_words MATCH ?", values: [words.join(" AND ")] };
  return readMessages(database, search.limit, {
    source: "channel_words w JOIN channel_messages m ON m.position = w.rowid",
    conditions: [matches, ...spanConditions(search, "w.rowid")],
    order: "w.rowid DESC",
  });
}

function threadReplies(database: OfficeDatabase, query: z.output<typeof ThreadQuery>): Page<ChannelMessage> {
  const channel = findChannel(database, query.channel);
  const { message } = query;
  const known = "SELECT 1 FROM channel_messages WHERE channel = ? AND (id = ? OR thread = ?)";
  if (!database.get(known, channel, message, message)) {
    throw new ConnectorError("params", `the channel has no message ${JSON.stringify(message)}`, { param: "message" });
  }
  const [after = -1n] = query.cursor === null ? [] : numbersIn(query.cursor, 1);
  const conditions = [
    { sql: "m.channel = ? AND (m.id = ? OR m.thread = ?)", values: [channel, message, message] },
    { sql: "m.position > ?", values: [after] },
  ];
  return readMessages(database, query.limit, { source: "channel_messages m", conditions, order: "m.position" });
}

function postMessage(
  account: LocalAccount,
  { channel: given, text, thread: answered }: z.output<typeof NewChannelMessage>,
  key: string,
): ChannelMessage {
  const { database, clock, person } = account;
  const channel = findChannel(database, given);
  const thread = answered === null ? null : findThread(database, channel, answered);
  const id = `post_${shortHash(`${person.address} ${key}`)}`;
  actOnce({ database, clock, account: person.address, kind: "post" }, key, { channel, text, thread }, () => {
    const author = ensureMember(account);
    addChannelMessage(database, { id, channel, author, text, thread, sentMs: clock.now(), reactions: [] });
    return id;
  });
  const find = `SELECT ${messageColumns} FROM channel_messages m ${joins} WHERE m.channel = ? AND m.id = ?`;
  const row = database.get<MessageRow>(find, channel, id);
  if (row) return toChannelMessage(row);
  throw new ConnectorError("tool_error", `the message ${id} is no longer in the channel`);
}

/** The id of the message that began the thread of this message. */
function findThread(database: OfficeDatabase, channel: string, message: string): string {
  const find = "SELECT coalesce(thread, id) AS thread FROM channel_messages WHERE channel = ? AND id = ?";
  const found = database.get<{ thread: string }>(find, channel, message);
  if (found) return found.thread;
  throw new ConnectorError("params", `the channel has no message ${JSON.stringify(message)}`, {
    param: "thread",
    fix: "read the channel and use the id of a message",
  });
}

/** The id of the account's member, who exists from the first message on. */
function ensureMember({ database, person: { name, address } }: LocalAccount): string {
  const known = database.get<{ id: string }>("SELECT id FROM members WHERE email = ? COLLATE NOCASE", address);
  if (known) return known.id;
  const id = `member_${shortHash(address)}`;
  const short = address.slice(0, address.lastIndexOf("@"));
  const isTaken = database.get("SELECT 1 FROM members WHERE handle = ? COLLATE NOCASE", short) !== undefined;
  const handle = isTaken ? address : short;
  putMember(database, { id, handle, name: name || handle, email: address, title: null, timeZone: null, isBot: false });
  return id;
}

/** The id of a channel, by its id or its name. */
function findChannel(database: OfficeDatabase, given: string): string {
  const name = given.trim().replace(/^#/, "");
  const find = "SELECT id FROM channels WHERE id = ? OR name = ? COLLATE NOCASE";
  const found = database.get<{ id: string }>(find, name, name);
  if (found) return found.id;
  const names = database.all<{ name: string }>("SELECT name FROM channels").map((channel) => channel.name);
  throw new ConnectorError("params", `no channel is called #${name}`, {
    param: "channel",
    fix: didYouMean(name, names) ?? "name a channel that you can read",
  });
}

interface MemberRow {
  id: string;
  handle: string;
  name: string;
  email: string | null;
  title: string | null;
  time_zone: string | null;
  is_bot: number;
}

function toUser({ id, handle, name, email, title, time_zone, is_bot }: MemberRow): ChannelUser {
  return { id, handle, name, email, title, timeZone: time_zone, isBot: is_bot === 1 };
}

function findMember(database: OfficeDatabase, given: string): MemberRow {
  const name = given.trim().replace(/^@/, "");
  const exact = "SELECT * FROM members WHERE id = ? OR handle = ? COLLATE NOCASE OR email = ? COLLATE NOCASE";
  const found = database.all<MemberRow>(exact, name, name, name);
  const named = found.length > 0 ? found : membersNamed(database, name);
  const [member] = named;
  if (member && named.length === 1) return member;
  if (named.length > 1) {
    const handles = named.map(({ handle }) => `@${handle}`).join(", ");
    throw new ConnectorError("params", `several members are called ${JSON.stringify(name)}`, {
      param: "user",
      fix: `use one of ${handles}`,
    });
  }
  const known = database.all<MemberRow>("SELECT * FROM members").flatMap((each) => [each.handle, each.name]);
  throw new ConnectorError("params", `no member is called ${JSON.stringify(name)}`, {
    param: "user",
    fix: didYouMean(name, known) ?? "use a handle, an address or a full name",
  });
}

function membersNamed(database: OfficeDatabase, name: string): MemberRow[] {
  return database.all<MemberRow>("SELECT * FROM members WHERE name = ? COLLATE NOCASE", name);
}
