import {
  isReply,
  nextTs,
  type SlackChannel,
  type SlackMessage,
  type SlackToken,
  type SlackUser,
  type SlackWorkspace,
  shown,
} from "./slack-workspace.ts";

/** One call, after the check of its token. */
export interface MethodCall {
  workspace: SlackWorkspace;
  args: URLSearchParams;
  token: SlackToken;
}

/** An error of the Web API, which answers with status 200. */
export class SlackRefusal extends Error {
  readonly code: string;
  readonly fields: Record<string, unknown>;

  constructor(code: string, fields: Record<string, unknown> = {}) {
    super(code);
    this.code = code;
    this.fields = fields;
  }
}

interface Method {
  /** Scopes of which the token needs one. */
  scopes: readonly string[];
  run(call: MethodCall): Record<string, unknown>;
}

const history = ["channels:history", "groups:history"];

/** Methods by name. Each refuses the same arguments as Slack. */
export const methods: Readonly<Record<string, Method>> = {
  "auth.test": { scopes: [], run: authTest },
  "conversations.list": { scopes: ["channels:read", "groups:read"], run: listChannels },
  "conversations.info": {
    scopes: ["channels:read"],
    run: (call) => ({ channel: channelJson(call, findChannel(call)) }),
  },
  "conversations.history": { scopes: history, run: channelHistory },
  "conversations.replies": { scopes: history, run: threadReplies },
  "users.list": { scopes: ["users:read"], run: listUsers },
  "users.info": {
    scopes: ["users:read"],
    run: (call) => ({ user: userJson(call, findUser(call, call.args.get("user"))) }),
  },
  "users.lookupByEmail": { scopes: ["users:read.email"], run: lookupByEmail },
  "search.messages": { scopes: ["search:read"], run: searchMessages },
  "chat.postMessage": { scopes: ["chat:write"], run: postMessage },
};

function authTest({ workspace, token }: MethodCall) {
  const user = workspace.users.find(({ id }) => id === token.user);
  const bot = token.isBot ? { bot_id: `B${token.user.slice(1)}` } : {};
  return {
    url: "https://acme.slack.example/",
    team: "Acme",
    team_id: "T1",
    user: user?.name,
    user_id: token.user,
    ...bot,
  };
}

/** `limit` is the largest number of items; the cursor is opaque. */
function page<Item>(items: readonly Item[], args: URLSearchParams, limitDefault: number) {
  const limit = Number(args.get("limit") ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) throw new SlackRefusal("invalid_limit");
  const cursor = args.get("cursor") ?? "";
  const [, offset] = /^next:(\d+)$/.exec(Buffer.from(cursor, "base64").toString()) ?? [];
  if (cursor !== "" && offset === undefined) throw new SlackRefusal("invalid_cursor");
  const from = Number(offset ?? 0);
  const hasMore = items.length > from + limit;
  const next_cursor = hasMore ? Buffer.from(`next:${from + limit}`).toString("base64") : "";
  return { items: items.slice(from, from + limit), has_more: hasMore, response_metadata: { next_cursor } };
}

function listChannels(call: MethodCall) {
  const { workspace, args, token } = call;
  const types = (args.get("types") ?? "public_channel").split(",");
  if (types.includes("private_channel")) needScope(token, "groups:read");
  const all = workspace.channels.filter(
    ({ isPrivate, isArchived }) =>
      types.includes(isPrivate ? "private_channel" : "public_channel") &&
      !(isArchived && args.get("exclude_archived") === "true"),
  );
  const { items, response_metadata } = page(
    all.filter((channel) => canSee(call, channel)),
    args,
    100,
  );
  return { channels: items.map((channel) => channelJson(call, channel)), response_metadata };
}

function canSee({ token }: MethodCall, { isPrivate, members }: SlackChannel): boolean {
  return !isPrivate || members === undefined || members.includes(token.user);
}

function isMember({ token }: MethodCall, { members }: SlackChannel): boolean {
  return members === undefined || members.includes(token.user);
}

function channelJson(call: MethodCall, channel: SlackChannel) {
  const { id, name, isPrivate = false, isArchived = false } = channel;
  return {
    id,
    name,
    is_channel: true,
    is_private: isPrivate,
    is_archived: isArchived,
    is_member: isMember(call, channel),
  };
}

/** Methods take ids only, not names. */
function findChannel(call: MethodCall): SlackChannel {
  const channel = call.workspace.channels.find(({ id }) => id === call.args.get("channel"));
  if (!channel || !canSee(call, channel)) throw new SlackRefusal("channel_not_found");
  return channel;
}

function readableMessages(call: MethodCall): SlackMessage[] {
  const channel = findChannel(call);
  // A bot reads only channels that it is a member of.
  if (call.token.isBot && !isMember(call, channel)) throw new SlackRefusal("not_in_channel");
  const { args } = call;
  const isInclusive = args.get("inclusive") === "true";
  const [oldest, latest] = [Number(args.get("oldest") ?? 0), Number(args.get("latest") ?? Number.MAX_SAFE_INTEGER)];
  return call.workspace.messages.filter(({ channel: id, ts }) => {
    const at = Number(ts);
    return id === channel.id && (isInclusive ? at >= oldest && at <= latest : at > oldest && at < latest);
  });
}

function channelHistory(call: MethodCall) {
  const roots = readableMessages(call).filter((message) => !isReply(message));
  roots.sort((a, b) => Number(b.ts) - Number(a.ts));
  const { items, ...rest } = page(roots, call.args, 100);
  return { messages: items.map((message) => shown(call.workspace, message, hasMetadata(call))), ...rest };
}

function hasMetadata({ args }: MethodCall): boolean {
  return args.get("include_all_metadata") === "true";
}

/** The first message of the thread is on each page. A reply's time finds that reply alone. */
function threadReplies(call: MethodCall) {
  const { workspace, args } = call;
  const ts = args.get("ts") ?? "";
  const channel = findChannel(call);
  const root = workspace.messages.find((message) => message.channel === channel.id && message.ts === ts);
  if (!root) throw new SlackRefusal("thread_not_found");
  const replies = readableMessages(call).filter((message) => isReply(message) && message.thread_ts === ts);
  replies.sort((a, b) => Number(a.ts) - Number(b.ts));
  const rest = new URLSearchParams(args);
  const limit = Number(args.get("limit") ?? 1_000);
  if (limit > 1) rest.set("limit", String(limit - 1));
  const { items, ...more } = page(limit > 1 ? replies : [], rest, 1_000);
  return { messages: [root, ...items].map((message) => shown(workspace, message, hasMetadata(call))), ...more };
}

function userJson({ token }: MethodCall, user: SlackUser) {
  const { email, ...profile } = user.profile;
  // Without this scope, profiles have no address.
  return { ...user, profile: token.scopes.includes("users:read.email") && email ? { ...profile, email } : profile };
}

function findUser({ workspace }: MethodCall, id: string | null): SlackUser {
  const user = workspace.users.find((each) => each.id === id);
  if (!user) throw new SlackRefusal("user_not_found");
  return user;
}

function listUsers(call: MethodCall) {
  const { items, response_metadata } = page(call.workspace.users, call.args, 100);
  return { members: items.map((user) => userJson(call, user)), response_metadata };
}

function lookupByEmail(call: MethodCall) {
  const email = call.args.get("email")?.toLowerCase();
  const user = call.workspace.users.find(({ profile }) => profile.email?.toLowerCase() === email);
  if (!user) throw new SlackRefusal("users_not_found");
  return { user: userJson(call, user) };
}

const plain = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Words, quoted parts, `in:<#C1>`, `from:<@U1>`, `after:` and `before:`, whose days are exclusive. */
function searchMessages(call: MethodCall) {
  const { workspace, args, token } = call;
  if (token.isBot) throw new SlackRefusal("not_allowed_token_type");
  const query = args.get("query") ?? "";
  if (query.trim() === "") throw new SlackRefusal("no_query");
  const terms = [...query.matchAll(/"([^"]*)"|(in|from|after|before):(\S+)|(\S+)/g)];
  const matches = workspace.messages.filter((message) =>
    terms.every(([, phrase, sign, value = "", word]) => {
      if (sign === "in") return value === `<#${message.channel}>`;
      if (sign === "from") return value === `<@${message.user}>`;
      const day = new Date(Number(message.ts) * 1_000).toISOString().slice(0, 10);
      if (sign === "after") return day > value;
      if (sign === "before") return day < value;
      return plain(message.text).includes(plain(phrase ?? word ?? ""));
    }),
  );
  matches.sort((a, b) => Number(b.ts) - Number(a.ts));
  const count = Number(args.get("count") ?? 20);
  const number = Number(args.get("page") ?? 1);
  const found = matches.slice((number - 1) * count, number * count).map((message) => matchJson(workspace, message));
  const pages = Math.ceil(matches.length / count);
  return {
    query,
    messages: { total: matches.length, matches: found, paging: { count, total: matches.length, page: number, pages } },
  };
}

/** A match names its thread only in its link. */
function matchJson({ channels, users }: SlackWorkspace, { channel, ts, user, text, thread_ts }: SlackMessage) {
  const thread = thread_ts ? `?thread_ts=${thread_ts}&cid=${channel}` : "";
  return {
    type: "message",
    ...{ ts, user, text },
    username: users.find(({ id }) => id === user)?.name,
    channel: { id: channel, name: channels.find(({ id }) => id === channel)?.name, is_im: false, is_mpim: false },
    permalink: `https://acme.slack.example/archives/${channel}/p${ts.replace(".", "")}${thread}`,
  };
}

const textCharactersMax = 40_000;

function postMessage(call: MethodCall) {
  const { workspace, args, token } = call;
  const channel = findChannel(call);
  if (channel.isArchived) throw new SlackRefusal("is_archived");
  if (!isMember(call, channel)) throw new SlackRefusal("not_in_channel");
  const text = args.get("text") ?? "";
  if (text === "") throw new SlackRefusal("no_text");
  if (text.length > textCharactersMax) throw new SlackRefusal("msg_too_long");
  const metadata = args.get("metadata");
  const thread = args.get("thread_ts");
  const message: SlackMessage = {
    channel: channel.id,
    ts: nextTs(workspace),
    user: token.user,
    ...(token.isBot ? { bot_id: `B${token.user.slice(1)}` } : {}),
    text,
    ...(thread ? { thread_ts: thread } : {}),
    ...(metadata ? { metadata: JSON.parse(metadata) } : {}),
  };
  workspace.messages.push(message);
  return { channel: channel.id, ts: message.ts, message: shown(workspace, message, true) };
}

/** Throws as Slack does for a token without any of the scopes. */
export function needScope(token: SlackToken, ...needed: readonly string[]): void {
  if (needed.length === 0 || needed.some((scope) => token.scopes.includes(scope))) return;
  throw new SlackRefusal("missing_scope", { needed: needed[0], provided: token.scopes.join(",") });
}
