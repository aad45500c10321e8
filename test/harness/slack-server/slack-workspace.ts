/** The state of the scripted workspace, as Slack's servers would store it. */
export interface SlackWorkspace {
  users: SlackUser[];
  channels: SlackChannel[];
  messages: SlackMessage[];
  tokens: Map<string, SlackToken>;
  refreshTokens: Map<string, { user: string; scopes: readonly string[] }>;
  nowMs(): number;
}

export interface SlackUser {
  id: string;
  name: string;
  real_name: string;
  tz: string | null;
  is_bot: boolean;
  deleted?: boolean;
  profile: { email?: string; title?: string; real_name: string };
}

export interface SlackChannel {
  id: string;
  name: string;
  isPrivate?: boolean;
  isArchived?: boolean;
  /** Ids of members. Absent: all. */
  members?: readonly string[];
}

export interface SlackMessage {
  channel: string;
  ts: string;
  user: string;
  bot_id?: string;
  text: string;
  thread_ts?: string;
  metadata?: { event_type: string; event_payload: Record<string, unknown> };
  reactions?: { name: string; count: number }[];
  subtype?: string;
}

export interface SlackToken {
  user: string;
  isBot: boolean;
  scopes: readonly string[];
  state: "valid" | "token_expired" | "token_revoked" | "account_inactive";
}

/** The scopes that troupe's app asks for. */
export const allScopes = [
  ...["channels:read", "groups:read", "channels:history", "groups:history"],
  ...["users:read", "users:read.email", "chat:write", "search:read"],
];

/** The first message of a thread has the number of its replies. */
export function shown(workspace: SlackWorkspace, message: SlackMessage, hasMetadata: boolean): object {
  const { channel, metadata, ...rest } = message;
  const replies = workspace.messages.filter(
    (each) => each.channel === channel && each.thread_ts === message.ts && each.ts !== message.ts,
  );
  return {
    type: "message",
    ...rest,
    ...(replies.length > 0 ? { thread_ts: message.ts, reply_count: replies.length } : {}),
    ...(metadata && hasMetadata ? { metadata } : {}),
  };
}

export function isReply({ ts, thread_ts }: SlackMessage): boolean {
  return thread_ts !== undefined && thread_ts !== ts;
}

/** A time that no message of the channel has. */
export function nextTs(workspace: SlackWorkspace): string {
  const seconds = Math.floor(workspace.nowMs() / 1_000);
  const taken = new Set(workspace.messages.map(({ ts }) => ts));
  for (let micros = 100; ; micros += 100) {
    const ts = `${seconds}.${String(micros).padStart(6, "0")}`;
    if (!taken.has(ts)) return ts;
  }
}
