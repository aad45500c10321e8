import type { Clock } from "@troupe/core";
import { didYouMean } from "@troupe/core/internal";
import type { ChannelUser } from "../ports/channels.ts";
import { ConnectorError } from "../ports/connector-error.ts";
import { toLine } from "../ports/person.ts";
import type { SlackCall } from "./slack-api.ts";
import { type Channel, ChannelAnswer, ChannelList, type User, UserAnswer, UserList } from "./slack-shapes.ts";

/** A channel that the account sees. */
export interface SlackChannel {
  id: string;
  name: string;
  isMember: boolean;
}

/** Channels and members of a workspace by name. Slack's messages have only their ids. */
export interface SlackDirectory {
  /** By id or name. Throws `params` with the most similar name. */
  findChannel(given: string): Promise<SlackChannel>;
  channels(): Promise<readonly SlackChannel[]>;
  /** By id, handle, address or full name. Throws `params` if none or several members match. */
  findUser(given: string): Promise<ChannelUser>;
  /** Null for an id that the account may not look up. */
  userById(id: string): Promise<ChannelUser | null>;
}

/** Lists older than this are read again. A name that is not in the list makes it read again at once, if it is not new. */
const listAgeMsMax = 300_000;
const newListAgeMs = 5_000;
const pageSize = 200;
const pagesMax = 50;

interface Cached<Item> {
  items: readonly Item[];
  readMs: number;
}

export function createSlackDirectory(call: SlackCall, clock: Pick<Clock, "now">): SlackDirectory {
  const lists = {
    channels: createList(clock, () => readChannels(call)),
    users: createList(clock, () => readUsers(call)),
  };
  const users = new Map<string, Promise<ChannelUser | null>>();
  const userById = (id: string): Promise<ChannelUser | null> => {
    const known = users.get(id) ?? readUser(call, id);
    users.set(id, known);
    // A failure must not stay.
    known.catch(() => users.delete(id));
    return known;
  };
  return {
    userById,
    channels: () => lists.channels.read(listAgeMsMax),
    async findChannel(given) {
      const name = given.trim().replace(/^#/, "");
      const find = (all: readonly SlackChannel[]) =>
        all.find((each) => each.id === name || each.name.toLowerCase() === name.toLowerCase());
      const found = find(await lists.channels.read(listAgeMsMax)) ?? find(await lists.channels.read(newListAgeMs));
      return found ?? (await channelById(call, name, await lists.channels.read(listAgeMsMax)));
    },
    async findUser(given) {
      const name = given.trim().replace(/^@/, "");
      if (/^[UWB][A-Z0-9]+$/.test(name)) {
        const byId = await userById(name);
        if (byId) return byId;
      }
      if (/^[^\s@]+@[^\s@]+$/.test(name)) return userByAddress(call, name);
      const all = await lists.users.read(listAgeMsMax);
      const matches = usersNamed(all, name);
      return oneOf(matches.length > 0 ? matches : usersNamed(await lists.users.read(newListAgeMs), name), name, all);
    },
  };
}

/** A list that is read again when it is too old for its reader. */
function createList<Item>(clock: Pick<Clock, "now">, readAll: () => Promise<Item[]>) {
  let cached: Cached<Item> | null = null;
  return {
    async read(ageMsMax: number): Promise<readonly Item[]> {
      if (cached && clock.now() - cached.readMs <= ageMsMax) return cached.items;
      cached = { items: await readAll(), readMs: clock.now() };
      return cached.items;
    },
  };
}

async function readChannels(call: SlackCall): Promise<SlackChannel[]> {
  try {
    return await readChannelsOf(call, "public_channel,private_channel");
  } catch (thrown) {
    // A token without groups:read sees public channels only.
    if (!(thrown instanceof ConnectorError) || !thrown.message.includes("groups:read")) throw thrown;
    return await readChannelsOf(call, "public_channel");
  }
}

async function readChannelsOf(call: SlackCall, types: string): Promise<SlackChannel[]> {
  return readAllPages(async (cursor) => {
    const args = { types, exclude_archived: true, limit: pageSize, ...cursor };
    const { channels, response_metadata } = await call("conversations.list", args, ChannelList);
    return { items: channels.map(toChannel), next: response_metadata?.next_cursor };
  });
}

async function readUsers(call: SlackCall): Promise<ChannelUser[]> {
  return readAllPages(async (cursor) => {
    const { members, response_metadata } = await call("users.list", { limit: pageSize, ...cursor }, UserList);
    return { items: members.filter(({ deleted }) => !deleted).map(toUser), next: response_metadata?.next_cursor };
  });
}

interface SlackPage<Item> {
  items: Item[];
  next: string | null | undefined;
}

/** All pages of a list, up to 10,000 items. */
async function readAllPages<Item>(
  readPage: (cursor: { cursor?: string }) => Promise<SlackPage<Item>>,
): Promise<Item[]> {
  const all: Item[] = [];
  let cursor: { cursor?: string } = {};
  for (let page = 0; page < pagesMax; page += 1) {
    const { items, next } = await readPage(cursor);
    all.push(...items);
    if (!next) break;
    cursor = { cursor: next };
  }
  return all;
}

function toChannel({ id, name, is_member }: Channel): SlackChannel {
  return { id, name: toLine(name ?? id, 100), isMember: is_member ?? true };
}

/** A direct message, or a channel that the list has not, by its id. */
async function channelById(call: SlackCall, id: string, known: readonly SlackChannel[]): Promise<SlackChannel> {
  if (/^[CGD][A-Z0-9]{7,}$/.test(id))
    return toChannel((await call("conversations.info", { channel: id }, ChannelAnswer)).channel);
  const names = known.map(({ name }) => name);
  throw new ConnectorError("params", `no channel is called #${id}`, {
    param: "channel",
    fix: didYouMean(id, names) ?? "name a channel that the app can see",
  });
}

async function readUser(call: SlackCall, id: string): Promise<ChannelUser | null> {
  try {
    return toUser((await call("users.info", { user: id }, UserAnswer)).user);
  } catch (thrown) {
    if (thrown instanceof ConnectorError && thrown.type === "params") return null;
    throw thrown;
  }
}

async function userByAddress(call: SlackCall, email: string): Promise<ChannelUser> {
  return toUser((await call("users.lookupByEmail", { email }, UserAnswer)).user);
}

function toUser({ id, name, real_name, tz, is_bot, profile }: User): ChannelUser {
  const handle = toLine(name || profile?.display_name || id, 100);
  return {
    id,
    handle,
    name: toLine(real_name || profile?.real_name || handle, 200),
    email: profile?.email ? toLine(profile.email, 254).toLowerCase() : null,
    title: profile?.title ? toLine(profile.title, 200) : null,
    timeZone: tz ? toLine(tz, 60) : null,
    isBot: is_bot ?? false,
  };
}

/** A handle belongs to one member; a full name can belong to several. */
function usersNamed(all: readonly ChannelUser[], given: string): ChannelUser[] {
  const isSame = (name: string) => name.toLowerCase() === given.toLowerCase();
  const byHandle = all.filter(({ id, handle }) => id === given || isSame(handle));
  return byHandle.length > 0 ? byHandle : all.filter(({ name }) => isSame(name));
}

function oneOf(matches: readonly ChannelUser[], given: string, all: readonly ChannelUser[]): ChannelUser {
  const [match] = matches;
  if (match && matches.length === 1) return match;
  const handles = matches.map(({ handle }) => `@${handle}`).join(", ");
  const [problem, fix] = match
    ? ["several members are called", `use one of ${handles}`]
    : [
        "no member is called",
        didYouMean(
          given,
          all.flatMap(({ handle, name }) => [handle, name]),
        ),
      ];
  throw new ConnectorError("params", `${problem} ${JSON.stringify(given)}`, {
    param: "user",
    fix: fix ?? "use a handle, an address or a full name",
  });
}
