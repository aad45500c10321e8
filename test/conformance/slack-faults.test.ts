/** Faults of Slack and of the network, through the real SDK: each has the type on which the retry rules of the tools act. */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectSlack, createSlackChannels, openConnectionStore, openSlackChannels } from "@troupe/connectors";
import { describe, expect, test } from "vitest";
import { botToken, sampleTs, sampleWorkspace, userToken } from "../harness/slack-server/sample-workspace.ts";
import type { SlackWorkspace } from "../harness/slack-server/slack-workspace.ts";
import { type SlackFault, startSlackServer } from "../harness/slack-server/start-slack-server.ts";

const beta = { channel: "#project-alpha", text: "The beta is out" };
const keyed = { idempotencyKey: "k1" };

async function start({ token = userToken, timeoutMs = 30_000, workspace = sampleWorkspace() } = {}) {
  const server = await startSlackServer(workspace);
  const channels = createSlackChannels({ token, apiUrl: server.apiUrl, timeoutMs });
  const posts = () => workspace.messages.filter(({ text }) => text === beta.text);
  return { server, channels, workspace, posts, [Symbol.asyncDispose]: () => server.close() };
}

const status = (code: number, headers = {}, body = "<html>"): SlackFault => ({
  kind: "status",
  status: code,
  headers,
  body,
});
const error = (code: string, fields = {}): SlackFault => ({ kind: "error", code, fields });

describe("a fault of Slack", () => {
  test.for([
    { fault: error("token_expired"), expected: { type: "auth" }, text: "expired" },
    { fault: error("token_revoked"), expected: { type: "auth" }, text: "troupe connect slack" },
    { fault: error("account_inactive"), expected: { type: "auth" }, text: "deactivated" },
    { fault: error("invalid_auth"), expected: { type: "auth" }, text: "does not accept the token" },
    { fault: status(429, { "retry-after": "30" }), expected: { type: "rate_limit", retryAfterS: 30 }, text: "30 s" },
    { fault: status(429), expected: { type: "rate_limit", retryAfterS: null }, text: "no more calls" },
    {
      fault: status(429, { "retry-after": "soon" }),
      expected: { type: "rate_limit", retryAfterS: null },
      text: "no more",
    },
    { fault: error("ratelimited"), expected: { type: "rate_limit" }, text: "no more calls" },
    {
      fault: error("missing_scope", { needed: "channels:history", provided: "chat:write" }),
      expected: { type: "permission" },
      text: "channels:history",
    },
    { fault: error("not_in_channel"), expected: { type: "permission" }, text: "/invite" },
    { fault: error("channel_not_found"), expected: { type: "params", param: "channel" }, text: "no such channel" },
    { fault: error("invalid_cursor"), expected: { type: "params", param: "cursor" }, text: "not a cursor" },
    { fault: error("internal_error"), expected: { type: "network" }, text: "internal error" },
    { fault: status(500), expected: { type: "network" }, text: "500" },
    { fault: status(503), expected: { type: "network" }, text: "503" },
    { fault: status(404), expected: { type: "tool_error" }, text: "404" },
    {
      fault: status(302, { location: "http://127.0.0.1:1/" }),
      expected: { type: "network" },
      text: "cannot be reached",
    },
    { fault: error("a_new_error_of_slack"), expected: { type: "tool_error" }, text: "a_new_error_of_slack" },
    { fault: { kind: "body", body: "<html>secret" }, expected: { type: "network" }, text: "cannot be read" },
    { fault: { kind: "body", body: "null" }, expected: { type: "network" }, text: "conversations.history" },
    { fault: { kind: "body", body: '{"ok":true}' }, expected: { type: "network" }, text: "cannot be read" },
    {
      fault: { kind: "body", body: '{"ok":true,"messages":[{"ts":1}]}' },
      expected: { type: "network" },
      text: "cannot be read",
    },
    { fault: { kind: "half" }, expected: { type: "network" }, text: "conversations.history" },
    { fault: { kind: "lost" }, expected: { type: "network" }, text: "cannot be reached" },
  ] as { fault: SlackFault; expected: object; text: string }[])(
    "$fault is $expected",
    async ({ fault, expected, text }) => {
      await using slack = await start();
      slack.server.fail("conversations.history", fault);
      const refused = slack.channels.channelMessages({ channel: "general" });
      await expect(refused).rejects.toMatchObject({ ...expected, message: expect.stringContaining(text) });
      await expect(refused).rejects.toMatchObject({ message: expect.not.stringContaining("secret") });
      // The SDK does not repeat the call; the caller does, and then it succeeds.
      expect(slack.server.calls.filter(({ method }) => method === "conversations.history")).toHaveLength(1);
      expect((await slack.channels.channelMessages({ channel: "general" })).items).toHaveLength(2);
    },
  );

  test("that lasts longer than the time limit is a network error", async () => {
    await using slack = await start({ timeoutMs: 300 });
    slack.server.fail("auth.test", { kind: "silent" });
    await expect(slack.channels.status()).rejects.toMatchObject({
      type: "network",
      message: expect.stringContaining("in time"),
    });
  });

  test("of an unreachable server is a network error", async () => {
    const channels = createSlackChannels({ token: userToken, apiUrl: "http://127.0.0.1:1/api/" });
    await expect(channels.status()).rejects.toMatchObject({ type: "network" });
  });

  test("of one author hides no message", async () => {
    await using slack = await start();
    slack.server.fail("users.info", error("user_not_found"));
    const { items } = await slack.channels.channelMessages({ channel: "general" });
    expect(items.map(({ author }) => author.name)).toEqual(["U3", "Ana Ruiz"]);
  });
});

test("a member whose name could not be read has it in the next list", async () => {
  await using slack = await start();
  slack.server.fail("users.info", status(503));
  await expect(slack.channels.channelMessages({ channel: "general" })).rejects.toMatchObject({ type: "network" });
  const { items } = await slack.channels.channelMessages({ channel: "general" });
  expect(items.map(({ author }) => author.name)).toEqual(["Bob Stone", "Ana Ruiz"]);
});

describe("a post whose outcome is unknown", () => {
  test.for(["lost", "half"] as const)("because the answer was %s is not repeated by the next try", async (kind) => {
    await using slack = await start();
    slack.server.fail("chat.postMessage", { kind });
    await expect(slack.channels.postMessage(beta, keyed)).rejects.toMatchObject({ type: "network" });
    const second = createSlackChannels({ token: userToken, apiUrl: slack.server.apiUrl });
    const posted = await second.postMessage(beta, keyed);
    expect(slack.posts().map(({ ts }) => ts)).toEqual([posted.id]);
    const reply = { ...beta, thread: sampleTs("2") };
    slack.server.fail("chat.postMessage", { kind });
    await expect(second.postMessage(reply, { idempotencyKey: "k2" })).rejects.toMatchObject({ type: "network" });
    await second.postMessage(reply, { idempotencyKey: "k2" });
    expect(slack.posts()).toHaveLength(2);
  });

  test("because Slack failed before it is posted by the next try", async () => {
    await using slack = await start();
    slack.server.fail("chat.postMessage", status(503));
    await expect(slack.channels.postMessage(beta, keyed)).rejects.toMatchObject({ type: "network" });
    await slack.channels.postMessage(beta, keyed);
    expect(slack.posts()).toHaveLength(1);
  });

  test("is not repeated by tries at the same moment", async () => {
    await using slack = await start();
    const all = await Promise.all(Array.from({ length: 4 }, () => slack.channels.postMessage(beta, keyed)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(slack.posts()).toHaveLength(1);
  });

  test("is found behind the messages of many other members", async () => {
    await using slack = await start();
    const first = await slack.channels.postMessage(beta, keyed);
    const seconds = Number(first.id);
    for (let i = 1; i <= 450; i += 1) {
      const ts = (seconds + i).toFixed(6);
      slack.workspace.messages.push({ channel: "C2", ts, user: "U1", text: "later" });
    }
    expect((await slack.channels.postMessage(beta, keyed)).id).toBe(first.id);
    expect(slack.posts()).toHaveLength(1);
  });
});

describe("a workspace", () => {
  test("of many channels, members and messages is read by pages", async () => {
    const workspace = sampleWorkspace();
    for (let i = 0; i < 450; i += 1) {
      workspace.channels.unshift({ id: `C9${i}`, name: `team-${i}` });
      workspace.users.unshift({
        ...(workspace.users[0] as SlackWorkspace["users"][number]),
        id: `U7${i}`,
        name: `m${i}`,
      });
      workspace.messages.push({ channel: "C1", ts: `17800000${100 + i}.000100`, user: "U2", text: `note ${i}` });
    }
    await using slack = await start({ workspace });
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await slack.channels.channelMessages({ channel: "general", limit: 100, cursor });
      found.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(found).toHaveLength(452);
    expect(new Set(found).size).toBe(452);
    expect(await slack.channels.userInfo("deploys")).toMatchObject({ id: "U4" });
    // Names are looked up once for all messages of an author.
    expect(slack.server.calls.filter(({ method }) => method === "users.info")).toHaveLength(3);
  });

  test("is read up to the end of a span, without the message of that moment", async () => {
    await using slack = await start();
    for (const ts of ["1780000000.000000", "1779999999.999999"]) {
      slack.workspace.messages.push({ channel: "C2", ts, user: "U2", text: ts });
    }
    const until = new Date(1_780_000_000_000).toISOString();
    const { items } = await slack.channels.channelMessages({ channel: "C2", until, limit: 1 });
    expect(items.map(({ id }) => id)).toEqual(["1779999999.999999"]);
  });

  test("shows names for the ids in a text", async () => {
    await using slack = await start();
    const text = "<@U1> &amp; <@U404>: see <#C1> or <https://acme.example|the page>";
    slack.workspace.messages.push({ channel: "C2", ts: "1780000000.000100", user: "U2", text });
    const { items } = await slack.channels.channelMessages({ channel: "C2", limit: 1 });
    expect(items[0]?.text).toBe("@ana & @U404: see #general or the page (https://acme.example)");
  });

  test("with a private channel is read without the scope for private channels", async () => {
    const scopes = ["channels:read", "channels:history", "users:read", "chat:write"];
    const workspace = sampleWorkspace({ scopes });
    workspace.channels.push({ id: "G1", name: "board", isPrivate: true });
    await using slack = await start({ workspace });
    expect((await slack.channels.channelMessages({ channel: "general" })).items).toHaveLength(2);
    await expect(slack.channels.channelMessages({ channel: "board" })).rejects.toMatchObject({ param: "channel" });
    await expect(slack.channels.searchMessages({ text: "beta" })).rejects.toMatchObject({
      type: "permission",
      message: expect.stringContaining("search:read"),
    });
  });

  test("whose bot is not a member of a channel can be searched, but not read there", async () => {
    const workspace = sampleWorkspace();
    workspace.channels[0] = { id: "C1", name: "general", members: ["U1"] };
    await using slack = await start({ workspace, token: botToken });
    const { items } = await slack.channels.searchMessages({ from: "@ana" });
    expect(items.map(({ id }) => id)).toEqual([sampleTs("5"), sampleTs("2")]);
    await expect(slack.channels.channelMessages({ channel: "general" })).rejects.toMatchObject({ type: "permission" });
    await expect(slack.channels.postMessage({ ...beta, channel: "general" }, keyed)).rejects.toMatchObject({
      type: "permission",
    });
  });
});

describe("the status", () => {
  test("names the member, and says what a bot token cannot search", async () => {
    await using slack = await start({ token: botToken });
    expect(await slack.channels.status()).toMatchObject({ account: "U9", auth: "valid", canWrite: true });
    expect((await slack.channels.status()).note).toContain("1,000 messages");
  });

  test("knows that a token without chat:write cannot post", async () => {
    await using slack = await start({ workspace: sampleWorkspace({ scopes: ["channels:read"] }) });
    expect(await slack.channels.status()).toMatchObject({ auth: "valid", canWrite: false });
  });

  test.for(["token_revoked", "account_inactive", "token_expired"] as const)("of %s is revoked", async (state) => {
    await using slack = await start();
    const token = slack.workspace.tokens.get(userToken);
    if (token) token.state = state;
    expect(await slack.channels.status()).toMatchObject({ auth: "revoked", canWrite: false });
  });
});

describe("a connected account", () => {
  const rotation = { refreshToken: "xoxe-1-first", clientId: "client", clientSecret: "client-secret" };

  async function connect({ rotates }: { rotates: boolean }) {
    const made = await mkdtempDisposable(join(tmpdir(), "troupe-slack-"));
    const slack = await start();
    const { workspace, server } = slack;
    const scopes = workspace.tokens.get(userToken)?.scopes ?? [];
    workspace.refreshTokens.set(rotation.refreshToken, { user: "U9", scopes });
    const store = openConnectionStore(made.path);
    const account = { token: userToken, apiUrl: server.apiUrl, rotation: rotates ? rotation : null };
    const connected = await connectSlack(store, account);
    const open = async () => {
      const opened = await store.get(connected.connection.id);
      if (!opened) throw new Error("the connection is not stored");
      return openSlackChannels(store, opened);
    };
    const expire = () => {
      for (const token of workspace.tokens.values()) token.state = "token_expired";
    };
    const dispose = async () => {
      await server.close();
      await made.remove();
    };
    return { ...slack, store, connected, open, expire, [Symbol.asyncDispose]: dispose };
  }

  test("has the name of its workspace, all scopes, and works from the store", async () => {
    await using slack = await connect({ rotates: false });
    const { connection, ...rest } = slack.connected;
    expect(connection).toMatchObject({ id: "slack/Acme", kind: "slack", account: "U9", domains: ["channels"] });
    expect(rest).toEqual({ team: "Acme", user: "me", missingScopes: [] });
    expect(JSON.stringify(await slack.store.list())).not.toContain(userToken);
    const channels = await slack.open();
    expect(channels.refresh).toBeUndefined();
    expect((await channels.channelMessages({ channel: "general" })).items).toHaveLength(2);
    await slack.store.remove(connection.id);
    await expect(channels.channelMessages({ channel: "general" })).rejects.toMatchObject({ type: "auth" });
  });

  test.for([
    { token: "xoxp-unknown-token", problem: "does not accept the token" },
    { token: "password", problem: "is not a token of Slack" },
    { token: " ", problem: "is empty" },
    { token: "xoxb-1 xoxb-2", problem: "contains a space" },
  ])("is not stored with the token $token", async ({ token, problem }) => {
    await using made = await mkdtempDisposable(join(tmpdir(), "troupe-slack-"));
    await using slack = await start();
    const store = openConnectionStore(made.path);
    const refused = connectSlack(store, { token, apiUrl: slack.server.apiUrl });
    await expect(refused).rejects.toThrow(problem);
    expect(await store.list()).toEqual([]);
  });

  test("names the scopes that its token lacks", async () => {
    await using made = await mkdtempDisposable(join(tmpdir(), "troupe-slack-"));
    await using slack = await start({ workspace: sampleWorkspace({ scopes: ["channels:read", "users:read"] }) });
    const store = openConnectionStore(made.path);
    const { missingScopes } = await connectSlack(store, { token: botToken, apiUrl: slack.server.apiUrl, name: "work" });
    expect(missingScopes).toEqual([
      "groups:read",
      "channels:history",
      "groups:history",
      "users:read.email",
      "chat:write",
    ]);
    expect((await store.list()).map(({ id }) => id)).toEqual(["slack/work"]);
  });

  test("obtains a new token after the old one expired, also for other processes", async () => {
    await using slack = await connect({ rotates: true });
    const [channels, other] = [await slack.open(), await slack.open()];
    slack.expire();
    expect(await channels.status()).toMatchObject({ account: "U9", auth: "expired" });
    await expect(channels.channelMessages({ channel: "general" })).rejects.toMatchObject({ type: "auth" });
    await Promise.all([channels.refresh?.(), other.refresh?.()]);
    for (const each of [channels, other]) {
      expect((await each.channelMessages({ channel: "general" })).items).toHaveLength(2);
    }
    expect(slack.server.calls.filter(({ method }) => method === "oauth.v2.access")).toHaveLength(1);
    const stored = await slack.store.get(slack.connected.connection.id);
    expect(stored?.secrets.refreshToken).toMatch(/^xoxe-1-new-/);
    expect(stored?.connection.settings.tokenExpiresAt).toBeDefined();
  });

  test("whose refresh token was revoked has to be connected again", async () => {
    await using slack = await connect({ rotates: true });
    const channels = await slack.open();
    slack.expire();
    slack.workspace.refreshTokens.clear();
    await expect(channels.refresh?.()).rejects.toMatchObject({
      type: "auth",
      message: expect.stringContaining("connect"),
    });
    expect((await slack.store.get(slack.connected.connection.id))?.secrets.token).toBe(userToken);
  });
});
