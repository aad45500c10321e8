/** `troupe connect google` against a server that speaks Google's OAuth, with a browser that follows its redirects. */
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { disconnectGoogle, openConnectionStore, openGoogle } from "@troupe/connectors";
import { describe, expect, it, type TestContext } from "vitest";
import { startTroupe, troupe } from "../harness/cli.ts";
import { startInProcess } from "../harness/cli-in-process.ts";
import { connectAccount } from "../harness/google-server/connect-account.ts";
import { refuse } from "../harness/google-server/google-reply.ts";
import { type GoogleServer, startGoogleServer } from "../harness/google-server/start-google-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

const me = { name: "Me", address: "me@acme.example" };

async function setUp(test: Pick<TestContext, "onTestFinished">) {
  const home = await tempFolder("connect-google", test);
  const server = await startGoogleServer();
  test.onTestFinished(() => server[Symbol.asyncDispose]());
  const env = {
    TROUPE_GOOGLE_URL: server.url,
    TROUPE_GOOGLE_CLIENT_ID: server.oauth.client.id,
    TROUPE_GOOGLE_CLIENT_SECRET: server.oauth.client.secret,
  };
  return { home, server, env, store: openConnectionStore(home) };
}

type Setup = Awaited<ReturnType<typeof setUp>>;

/** Runs the command, and lets `browse` act on the URL that it prints. */
async function connect(
  { home, env }: Pick<Setup, "home" | "env">,
  test: Pick<TestContext, "onTestFinished">,
  { args = [] as string[], browse = (url: URL): Promise<unknown> => fetch(url) } = {},
) {
  const running = startInProcess(["connect", "google", ...args], { home, env });
  test.onTestFinished(() => running.send("SIGINT"));
  const printed = /http:\/\/127\.0\.0\.1:\d+\/o\/oauth2\/v2\/auth\S+/;
  const [url] = await until(() => printed.exec(running.stdout() + running.stderr()));
  await browse(new URL(url));
  return { ...(await running.ended), url: new URL(url) };
}

/** The texts of all files of the home. */
async function filesOf(home: string): Promise<string> {
  const files = await readdir(home, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile() && file.name !== "connections.db")
    .map((file) => readFile(join(file.parentPath, file.name), "latin1"));
  return (await Promise.all(texts)).join("\n");
}

describe("troupe connect google", () => {
  it("lists the permissions, stores the account privately, and prints no secret", async (test) => {
    const setup = await setUp(test);
    const { home, store, server } = setup;
    const { code, stdout, stderr, url } = await connect(setup, test);
    expect([code, stdout.trim()]).toEqual([
      0,
      "connected  google/me@acme.example  me@acme.example  mail, calendar, contacts",
    ]);
    expect(stderr).toContain("mail: write drafts and send mail");
    expect(stderr).toContain("calendar: see when people are free or busy");
    expect(url.searchParams.get("scope")?.split(" ")).toHaveLength(9);
    expect((await stat(join(home, "connections.db"))).mode & 0o777).toBe(0o600);
    const secrets = (await store.secrets()).map(({ value }) => value);
    expect(secrets).toHaveLength(3);
    const written = [stdout, stderr, await filesOf(home)].join("\n");
    for (const secret of secrets) expect(written).not.toContain(secret);
    const { mail } = await openGoogle({ store, id: "google/me@acme.example" });
    expect(await mail?.status()).toMatchObject({ account: me.address, auth: "valid", canWrite: true });
    expect(server.oauth.refreshCount).toBe(0);
  });

  it("connects several accounts, by address and by name, and replaces a connection of the same account", async (test) => {
    const setup = await setUp(test);
    const { store, server } = setup;
    await connect(setup, test);
    server.oauth.consent = { email: "me@work.example", name: "Me", scopes: "all" };
    const { stdout } = await connect(setup, test, { args: ["--account", "work", "--json"] });
    expect(JSON.parse(stdout)).toEqual({
      id: "google/work",
      account: "me@work.example",
      domains: ["mail", "calendar", "contacts"],
      notAllowed: [],
    });
    await connect(setup, test, { args: ["--account", "work"] });
    expect((await store.list()).map(({ id, account }) => `${id} ${account}`)).toEqual([
      "google/me@acme.example me@acme.example",
      "google/work me@work.example",
    ]);
  });

  it("refuses another account than the one of the name", async (test) => {
    const setup = await setUp(test);
    const { code, stderr } = await connect(setup, test, { args: ["--account", "ana@acme.example"] });
    expect([code, await setup.store.list()]).toEqual([2, []]);
    expect(stderr).toContain("me@acme.example signed in, but google/ana@acme.example is for ana@acme.example");
  });

  it.for([
    {
      what: "a denied consent",
      browse: async (url: URL, server: GoogleServer) => {
        server.oauth.consent = { ...server.oauth.consent, scopes: null };
        await fetch(url);
      },
      code: 4,
      says: "the access was denied on Google's page",
    },
    {
      what: "a consent to nothing",
      browse: async (url: URL, server: GoogleServer) => {
        server.oauth.consent = { ...server.oauth.consent, scopes: ["openid"] };
        await fetch(url);
      },
      code: 4,
      says: "neither mail, calendar nor contacts were allowed",
    },
    {
      what: "an answer with another state",
      browse: async (url: URL) => {
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        // Of the same length, so that the value counts.
        const state = "x".repeat(url.searchParams.get("state")?.length ?? 0);
        back.search = new URLSearchParams({ code: "4/stolen", state }).toString();
        await fetch(back);
      },
      code: 4,
      says: "wrong state",
    },
    {
      what: "a code that another program asked for",
      browse: async (url: URL) => {
        url.searchParams.set("code_challenge", "x".repeat(43));
        await fetch(url);
      },
      code: 4,
      says: "Invalid code verifier",
    },
    {
      what: "a server that fails at the exchange",
      browse: async (url: URL, server: GoogleServer) => {
        server.fail({ on: "POST /token", fault: refuse(503, "backendError", "Service unavailable") });
        await fetch(url);
      },
      code: 5,
      says: "Service unavailable (status 503)",
    },
    {
      what: "a page of a proxy at the exchange",
      browse: async (url: URL, server: GoogleServer) => {
        server.fail({ on: "POST /token", fault: "malformed" });
        await fetch(url);
      },
      code: 5,
      says: "something that is not a token",
    },
  ])("with $what stores nothing, and says what to do", async ({ browse, code, says }, test) => {
    const setup = await setUp(test);
    const result = await connect(setup, test, { browse: (url) => browse(url, setup.server) });
    expect([result.code, await setup.store.list()]).toEqual([code, []]);
    expect(result.stderr).toContain(says);
    expect(result.stderr).toMatch(/fix: {3}\S|status 503|not a token/);
    expect(result.stderr).not.toContain(setup.server.oauth.client.secret);
  });

  it("ignores requests that are not the answer, also of a page with another host name", async (test) => {
    const setup = await setUp(test);
    const statuses: number[] = [];
    const { code } = await connect(setup, test, {
      browse: async (url) => {
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        statuses.push((await fetch(new URL("/favicon.ico", back))).status);
        statuses.push((await fetch(back, { method: "POST" })).status);
        statuses.push(
          (await fetch(new URL(back.href.replace("127.0.0.1", "localhost"))).catch(() => ({ status: 0 }))).status,
        );
        await fetch(url);
      },
    });
    expect(code).toBe(0);
    expect(statuses.slice(0, 2)).toEqual([404, 404]);
    expect([0, 404]).toContain(statuses[2]);
  });

  it("without a client lists the steps to make one", async (test) => {
    const home = await tempFolder("connect-google", test);
    const { code, stderr } = await troupe(["connect", "google"], { home });
    expect(code).toBe(2);
    expect(stderr).toContain("an OAuth client is missing");
    expect(stderr).toContain("4. in Credentials: create an OAuth client ID of the type Desktop app");
    expect(stderr).toContain("--client FILE");
    await expect(stat(join(home, "connections.db"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it.for([
    { text: '{"web":{"client_id":"a","client_secret":"b"}}', says: "of the type Web application" },
    { text: "not JSON", says: "is not the JSON file of an OAuth client" },
    { text: null, says: "it does not exist" },
  ])("refuses a client file: $says", async ({ text, says }, test) => {
    const home = await tempFolder("connect-google", test);
    if (text !== null) await writeFile(join(home, "client.json"), text);
    const { code, stderr } = await troupe(["connect", "google", "--client", "client.json"], { home });
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it("reads the client file that Google offers", async (test) => {
    const setup = await setUp(test);
    const { id, secret } = setup.server.oauth.client;
    const installed = { client_id: id, client_secret: secret, redirect_uris: ["http://localhost"] };
    await writeFile(join(setup.home, "client.json"), JSON.stringify({ installed }));
    const { code } = await connect(
      { home: setup.home, env: { ...setup.env, TROUPE_GOOGLE_CLIENT_ID: "", TROUPE_GOOGLE_CLIENT_SECRET: "" } },
      test,
      { args: ["--client", join(setup.home, "client.json")] },
    );
    expect(code).toBe(0);
  });

  it("with a port that another program uses says so", async (test) => {
    const setup = await setUp(test);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    test.onTestFinished(() => {
      other.close();
    });
    const port = `${(other.address() as AddressInfo).port}`;
    const { code, stderr } = await troupe(["connect", "google", "--port", port], setup);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`cannot listen on port ${port} of 127.0.0.1`)]);
    expect(stderr).toContain("choose another port with --port");
  });

  it("ends by Ctrl-C", async (test) => {
    const { home, env } = await setUp(test);
    const running = startTroupe(["connect", "google"], { home, env, test });
    await running.waitForOutput(/waiting for the browser/);
    running.process.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
  });
});

describe("a connection to Google", () => {
  it("that gets no answer of a browser ends with a network error", async (test) => {
    const { server, store } = await setUp(test);
    const attempt = connectAccount(server, store, me, { showUrl: () => {}, answerMs: 50 });
    await expect(attempt).rejects.toMatchObject({ type: "network", message: expect.stringContaining("within 50 ms") });
  });

  it.for([
    { what: "revoked at Google and removed", isReachable: true },
    { what: "removed also without Google", isReachable: false },
  ])("is $what by a disconnect", async ({ isReachable }, test) => {
    const { server, store } = await setUp(test);
    const { connection } = await connectAccount(server, store, me);
    const opened = await store.get(connection.id);
    if (!isReachable) server.fail({ on: "POST /revoke", fault: "drop" });
    const result = await disconnectGoogle({ store, id: connection.id });
    expect(result).toEqual({ isRemoved: true, isRevoked: isReachable });
    expect(await store.list()).toEqual([]);
    const refresh = new URLSearchParams({
      ...{ grant_type: "refresh_token", refresh_token: opened?.secrets.refreshToken ?? "" },
      ...{ client_id: server.oauth.client.id, client_secret: server.oauth.client.secret },
    });
    expect(server.oauth.token(refresh).status).toBe(isReachable ? 400 : 200);
    expect(await disconnectGoogle({ store, id: connection.id })).toEqual({ isRemoved: false, isRevoked: false });
  });
});
