/** `troupe connect slack` against a server with the protocol of Slack, with the token on standard input. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openConnectionStore, openSlackChannels } from "@troupe/connectors";
import { describe, expect, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { sampleWorkspace, userToken } from "../harness/slack-server/sample-workspace.ts";
import { startSlackServer } from "../harness/slack-server/start-slack-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

async function setUp(test: Pick<TestContext, "onTestFinished">, workspace = sampleWorkspace()) {
  const home = await tempFolder("connect-slack", test);
  const server = await startSlackServer(workspace);
  test.onTestFinished(() => server.close());
  const connect = (input: string, ...args: string[]) =>
    troupe(["connect", "slack", ...args], { home, input, env: { TROUPE_SLACK_URL: server.apiUrl }, ownProcess: false });
  return { home, workspace, server, connect, store: openConnectionStore(home) };
}

describe("troupe connect slack", () => {
  it("tests the token, stores it privately, and prints no part of it", async (test) => {
    const { home, connect, store } = await setUp(test);
    const { code, stdout, stderr } = await connect(`${userToken}\n`);
    expect([code, stdout.trim()]).toEqual([0, "connected  slack/Acme  me of Acme"]);
    expect(`${stdout}${stderr}`).not.toContain(userToken);
    const opened = await store.get("slack/Acme");
    if (!opened) throw new Error("the connection is not stored");
    const { items } = await openSlackChannels(store, opened).channelMessages({ channel: "general" });
    expect(items).toHaveLength(2);
    for (const file of await readdir(home, { recursive: true, withFileTypes: true })) {
      if (!file.isFile() || file.name === "connections.db") continue;
      expect(await readFile(join(file.parentPath, file.name), "latin1")).not.toContain(userToken);
    }
  });

  it("names missing scopes, and prints JSON", async (test) => {
    const { connect } = await setUp(
      test,
      sampleWorkspace({ scopes: ["channels:read", "channels:history", "users:read"] }),
    );
    const { stdout, stderr } = await connect(userToken, "--name", "work", "--json");
    const missingScopes = ["groups:read", "groups:history", "users:read.email", "chat:write", "search:read"];
    expect(JSON.parse(stdout)).toEqual({ id: "slack/work", account: "U9", team: "Acme", user: "me", missingScopes });
    expect(stderr).toContain("missing scope: chat:write");
  });

  it("stores the values that rotate a token", async (test) => {
    const { connect, store } = await setUp(test);
    const { code } = await connect(`${userToken}\nxoxe-1-first\nclient-secret\n`, "--client-id", "client");
    expect(code).toBe(0);
    expect((await store.get("slack/Acme"))?.secrets).toEqual({
      ...{ token: userToken, refreshToken: "xoxe-1-first", clientId: "client", clientSecret: "client-secret" },
    });
  });

  it.for([
    { input: "xoxp-revoked-token", code: 4, text: "does not accept the token" },
    { input: "hunter2", code: 2, text: "is not a token of Slack" },
    { input: "\n", code: 2, text: "token: nothing was given" },
  ])("refuses $input with exit code $code, and stores nothing", async ({ input, code, text }, test) => {
    const { connect, store } = await setUp(test);
    const result = await connect(input);
    expect([result.code, result.stdout]).toEqual([code, ""]);
    expect(result.stderr).toContain(text);
    if (input.trim() !== "") expect(result.stderr).not.toContain(input);
    expect(await store.list()).toEqual([]);
  });
});

describe("troupe connect mail", () => {
  it.for([
    { args: [], code: 2, text: "the mail address is missing" },
    { args: ["me@acme.example"], code: 2, text: "no server is given" },
    { args: ["me@acme.example", "--imap", "imap acme"], code: 2, text: "is not a server" },
    { args: ["me@acme.example", "--imap", "plain://imap.acme.example"], code: 2, text: "without TLS" },
    { args: ["me", "--imap", "127.0.0.1:1"], code: 2, text: "is not a mail address" },
    { args: ["me@acme.example", "--imap", "127.0.0.1:1"], code: 5, text: "127.0.0.1" },
    { args: ["me@acme.example", "--caldav", "http://127.0.0.1:1/"], code: 5, text: "127.0.0.1:1" },
  ])("with $args ends with exit code $code, and stores nothing", async ({ args, code, text }, test) => {
    const home = await tempFolder("connect-mail", test);
    const result = await troupe(["connect", "mail", ...args], { home, input: "mail-password-17", ownProcess: false });
    expect([result.code, result.stdout]).toEqual([code, ""]);
    expect(result.stderr).toContain(text);
    expect(result.stderr).not.toContain("mail-password-17");
    expect(await openConnectionStore(home).list()).toEqual([]);
  });
});
