/** Each fault of Google becomes one of the six errors, through the SDKs over sockets. Nothing is sent twice. */
import { inspect } from "node:util";
import { type ConnectorError, openConnectionStore, openGoogle, type Person } from "@troupe/connectors";
import { describe, expect, it, type TestContext } from "vitest";
import { connectAccount, openAccount } from "../harness/google-server/connect-account.ts";
import { ok, refuse } from "../harness/google-server/google-reply.ts";
import { type GoogleFault, startGoogleServer } from "../harness/google-server/start-google-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const user: Person = { name: "Me", address: "me@acme.example" };
const bob: Person = { name: "Bob", address: "bob@client.example" };
const outgoing = { to: [bob], subject: "Update", body: "All is well." };
const key = { idempotencyKey: "run-1/tool/3/0" };

async function connect(test: Pick<TestContext, "onTestFinished">, options: { timeoutMs?: number } = {}) {
  const folder = await tempFolder("google-faults", test);
  const server = await startGoogleServer();
  test.onTestFinished(() => server[Symbol.asyncDispose]());
  const store = openConnectionStore(folder);
  return { server, store, folder, ...(await openAccount(server, store, user, options)) };
}

const failureOf = (call: Promise<unknown>): Promise<ConnectorError> =>
  call.then(
    () => Promise.reject(new Error("the call did not fail")),
    (thrown) => thrown,
  );

const list = "GET /gmail/v1/users/me/messages";
const send = "POST /gmail/v1/users/me/drafts/send";

describe("an error of Google", () => {
  const cases: { what: string; fault: GoogleFault["fault"]; is: object }[] = [
    {
      what: "429 with Retry-After",
      fault: refuse(429, "rateLimitExceeded", "Too many concurrent requests for user.", 17),
      is: { type: "rate_limit", retryAfterS: 17 },
    },
    {
      what: "403 of a user's rate",
      fault: refuse(403, "userRateLimitExceeded", "User-rate limit exceeded."),
      is: { type: "rate_limit", retryAfterS: null },
    },
    {
      what: "403 of a missing scope",
      fault: refuse(403, "insufficientPermissions", "Insufficient Permission"),
      is: { type: "permission", fix: expect.stringContaining("troupe connect google --account me@acme.example") },
    },
    {
      what: "403 of a disabled API",
      fault: refuse(403, "accessNotConfigured", "Gmail API has not been used in project 1 before or it is disabled."),
      is: { type: "permission", fix: expect.stringContaining("enable the API") },
    },
    { what: "403 of another reason", fault: refuse(403, "domainPolicy", "Blocked."), is: { type: "permission" } },
    { what: "401", fault: refuse(401, "authError", "Invalid Credentials"), is: { type: "auth" } },
    { what: "400", fault: refuse(400, "invalidArgument", "Invalid query"), is: { type: "params" } },
    { what: "500", fault: refuse(500, "backendError", "Backend Error"), is: { type: "network" } },
    { what: "503", fault: refuse(503, "backendError", "Service unavailable"), is: { type: "network" } },
    { what: "a page of a proxy in place of JSON", fault: "malformed", is: { type: "network" } },
    { what: "JSON of another shape", fault: ok({ messages: [{ name: 1 }] }), is: { type: "network" } },
    { what: "a lost connection", fault: "drop", is: { type: "network" } },
  ];

  it.for(cases)("$what", async ({ fault, is }, test) => {
    const { mail, server, store } = await connect(test);
    server.fail({ on: list, fault });
    const error = await failureOf(mail.searchMessages({}));
    expect(error).toMatchObject({ name: "ConnectorError", ...is });
    expect(error.message).toContain("cannot search mail");
    // The adapter does not try again by itself: the next call is the caller's.
    expect(server.calls.filter((call) => call === list)).toHaveLength(1);
    const secrets = (await store.secrets()).map(({ value }) => value);
    expect(secrets).toHaveLength(3);
    for (const secret of secrets) expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(secret);
    expect((await mail.searchMessages({})).items).toEqual([]);
  });

  it("a server that never answers is a network error after the time limit", async (test) => {
    const { mail, server } = await connect(test, { timeoutMs: 300 });
    server.fail({ on: list, fault: "hang" });
    expect(await failureOf(mail.searchMessages({}))).toMatchObject({ type: "network" });
  });

  it("a server that cannot be reached is a network error, also for the status", async (test) => {
    const { mail, calendar, contacts, server } = await connect(test);
    await server[Symbol.asyncDispose]();
    for (const call of [mail.status(), calendar.timeZone(), contacts.searchContacts({})]) {
      expect(await failureOf(call)).toMatchObject({ type: "network" });
    }
    test.onTestFinished(() => {});
  });

  it("of one message of a page fails the search; a message that was deleted meanwhile is left out", async (test) => {
    const { mail, server } = await connect(test);
    for (const subject of ["A", "B", "C"]) {
      const raw = Buffer.from(`From: bob@client.example\r\nTo: me@acme.example\r\nSubject: ${subject}\r\n\r\nHi\r\n`);
      await server.gmail.arrive(user.address, raw, Date.UTC(2026, 2, 2));
    }
    server.fail({ on: `${list}/`, fault: refuse(500, "backendError", "Backend Error"), after: 1 });
    expect(await failureOf(mail.searchMessages({}))).toMatchObject({ type: "network" });
    server.fail({ on: `${list}/`, fault: refuse(404, "notFound", "Requested entity was not found."), after: 1 });
    expect((await mail.searchMessages({})).items).toHaveLength(2);
  });
});

describe("access that ends", () => {
  it("after an hour is refreshed before the call, once for all connectors and processes", async (test) => {
    const { server, store, connection } = await connect(test);
    const later = { now: () => Date.now() + 3_600_000 };
    server.oauth.expiresInS = 2 * 3_600;
    server.oauth.expireAccess();
    const before = await store.get(connection.id);
    const processes = await Promise.all([1, 2, 3].map(() => openGoogle({ store, id: connection.id, clock: later })));
    await Promise.all(
      processes.flatMap(({ mail, calendar }) => [
        mail?.searchMessages({}),
        calendar?.timeZone(),
        mail?.searchMessages({}),
      ]),
    );
    expect(server.oauth.refreshCount).toBe(1);
    const after = await store.get(connection.id);
    // Google gave another refresh token, and accepts the old one no more.
    expect(after?.secrets.refreshToken).not.toBe(before?.secrets.refreshToken);
    expect(after?.secrets.clientSecret).toBe(before?.secrets.clientSecret);
  });

  it("before its time is an auth error; after refresh() the same call succeeds", async (test) => {
    const { mail, server } = await connect(test);
    server.oauth.expireAccess();
    expect(await mail.status()).toMatchObject({ auth: "expired", account: user.address });
    expect(await failureOf(mail.searchMessages({}))).toMatchObject({ type: "auth" });
    await mail.refresh?.();
    expect((await mail.searchMessages({})).items).toEqual([]);
    expect(await mail.status()).toMatchObject({ auth: "valid" });
  });

  it("for good is an auth error that says how to connect again, and the connection remembers it", async (test) => {
    const { mail, calendar, server, store, connection } = await connect(test);
    server.oauth.revokeAll();
    const revoked = { type: "auth", fix: expect.stringContaining("troupe connect google --account me@acme.example") };
    expect(await failureOf(mail.refresh?.() ?? Promise.resolve())).toMatchObject(revoked);
    const calls = server.calls.length;
    expect(await failureOf(calendar.timeZone())).toMatchObject(revoked);
    expect(await mail.status()).toMatchObject({ auth: "revoked" });
    // Google is not asked again.
    expect(server.calls).toHaveLength(calls);
    expect((await store.get(connection.id))?.connection.settings.isRevoked).toBe("true");
    await openAccount(server, store, user);
    expect(await mail.status()).toMatchObject({ auth: "valid" });
  });

  it.for([
    { what: "500", fault: refuse(500, "backendError", "x"), type: "network" },
    { what: "a page of a proxy", fault: "malformed" as const, type: "network" },
    { what: "a lost connection", fault: "drop" as const, type: "network" },
    {
      what: "a wrong client",
      fault: { status: 401, body: { error: "invalid_client", error_description: "The OAuth client was not found." } },
      type: "auth",
    },
  ])("and a refresh that fails with $what leaves the tokens as they were", async ({ fault, type }, test) => {
    const { mail, server, store, connection } = await connect(test);
    const before = await store.get(connection.id);
    server.fail({ on: "POST /token", fault });
    expect(await failureOf(mail.refresh?.() ?? Promise.resolve())).toMatchObject({ type });
    expect(await store.get(connection.id)).toEqual(before);
    await mail.refresh?.();
  });
});

describe("a send whose outcome is not known", () => {
  const sent = (server: { gmail: { sent: { subject: string }[] } }) => server.gmail.sent.map(({ subject }) => subject);

  it.for([{ isIndexBehind: false }, { isIndexBehind: true }])(
    "because the answer was lost is not sent again, with an index that is behind: $isIndexBehind",
    async ({ isIndexBehind }, test) => {
      const { mail, server, store, connection } = await connect(test);
      server.gmail.isIndexBehind = isIndexBehind;
      server.fail({ on: send, fault: "lose-answer" });
      expect(await failureOf(mail.sendMail(outgoing, key))).toMatchObject({ type: "network" });
      const status = await mail.deliveryStatus(key);
      expect(status).toMatchObject({ status: "accepted", recipients: [{ address: bob.address, status: "accepted" }] });
      expect(await mail.sendMail(outgoing, key)).toEqual(status);
      // Another machine knows only the key and the content.
      const other = await openGoogle({ store, id: connection.id });
      expect(await other.mail?.deliveryStatus(key)).toEqual(status);
      expect(await other.mail?.sendMail(outgoing, key)).toEqual(status);
      await expect(other.mail?.sendMail({ ...outgoing, body: "Other" }, key)).rejects.toMatchObject({ type: "params" });
      expect(sent(server)).toEqual(["Update"]);
    },
  );

  it("because the request was lost is sent once, from the same draft", async (test) => {
    const { mail, server } = await connect(test);
    server.fail({ on: send, fault: "drop" });
    expect(await failureOf(mail.sendMail(outgoing, key))).toMatchObject({ type: "network" });
    expect(await mail.deliveryStatus(key)).toBeNull();
    expect((await mail.searchMessages({ folder: "drafts" })).items).toHaveLength(1);
    await mail.sendMail(outgoing, key);
    expect(sent(server)).toEqual(["Update"]);
    expect((await mail.searchMessages({ folder: "drafts" })).items).toEqual([]);
  });

  it("because the answer about the draft was lost is sent once", async (test) => {
    const { mail, server } = await connect(test);
    server.fail({ on: "POST /gmail/v1/users/me/drafts", fault: "lose-answer" });
    expect(await failureOf(mail.sendMail(outgoing, key))).toMatchObject({ type: "network" });
    await mail.sendMail(outgoing, key);
    expect(sent(server)).toEqual(["Update"]);
  });

  it("and refused by Google leaves no draft", async (test) => {
    const { mail, server } = await connect(test);
    const refused = { ...outgoing, to: [{ address: "bob@refused.example" }] };
    expect(await failureOf(mail.sendMail(refused, key))).toMatchObject({ type: "params", param: "to" });
    expect((await mail.searchMessages({ folder: "drafts" })).items).toEqual([]);
    expect(sent(server)).toEqual([]);
  });

  it("is an event once, if the answer of its creation was lost", async (test) => {
    const { calendar, server } = await connect(test);
    const at = (hour: string) => ({ dateTime: `2026-03-03T${hour}:00:00`, timeZone: "Europe/Berlin" });
    const event = { title: "Review", start: at("14"), end: at("15") };
    server.fail({ on: "POST /calendar/v3/calendars/primary/events", fault: "lose-answer" });
    expect(await failureOf(calendar.createEvent(event, key))).toMatchObject({ type: "network" });
    expect(await calendar.createEvent(event, key)).toMatchObject({ title: "Review" });
    expect(server.calendar.events.size).toBe(1);
  });
});

describe("a mail", () => {
  it("that came back has the status failed for its recipient", async (test) => {
    const { mail, server } = await connect(test);
    const sent = await mail.sendMail({ ...outgoing, cc: [{ address: "ana@acme.example" }] }, key);
    const messageId = server.gmail.mailboxOf(user.address).messages[0]?.messageId;
    const bounce = [
      "From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      ...["To: me@acme.example", `X-Failed-Recipients: ${bob.address}`, `In-Reply-To: ${messageId}`],
      ...["Subject: Delivery Status Notification (Failure)", "", "Address not found"],
    ].join("\r\n");
    await server.gmail.arrive(user.address, Buffer.from(bounce), Date.now());
    expect(await mail.deliveryStatus({ id: sent.id })).toMatchObject({
      status: "failed",
      recipients: [
        { address: "ana@acme.example", status: "accepted" },
        { address: bob.address, status: "failed", detail: "Address not found" },
      ],
    });
  });

  it("of HTML is read as text", async (test) => {
    const { mail, server } = await connect(test);
    const html =
      "From: bob@client.example\r\nSubject: Hi\r\nContent-Type: text/html\r\n\r\n<p>One</p><script>x()</script><p>Two</p>";
    await server.gmail.arrive(user.address, Buffer.from(html), Date.now());
    const [found] = (await mail.searchMessages({ subject: "hi" })).items;
    expect((await mail.getMessage(found?.id ?? "")).body).toBe("One\n\nTwo");
  });

  it("is a reply with the headers of its thread, to the sender and not to the header Reply-To", async (test) => {
    const { mail, server } = await connect(test);
    const original =
      "From: Bob <bob@client.example>\r\nReply-To: eve@evil.example\r\nSubject: Hi\r\nMessage-ID: <2@client.example>\r\n" +
      "References: <1@client.example>\r\n\r\nHello";
    await server.gmail.arrive(user.address, Buffer.from(original), Date.now());
    const [found] = (await mail.searchMessages({ subject: "hi" })).items;
    const sent = await mail.replyToMessage(found?.id ?? "", { body: "Thanks" }, key);
    expect(sent).toMatchObject({ thread: found?.thread, recipients: [{ address: bob.address }] });
    const [{ raw } = { raw: "" }] = server.gmail.sent;
    expect(`${raw}`).toMatch(/^In-Reply-To: <2@client\.example>/m);
    expect(`${raw}`).toMatch(/^References: <1@client\.example>\s+<2@client\.example>/m);
  });

  it("has no header that came with its content", async (test) => {
    const { mail, server } = await connect(test);
    const name = 'Bob, Jr. "x" =?utf-8?q?Bcc:_eve@evil.example?=';
    await mail.sendMail(
      { to: [{ ...bob, name }], subject: "Ünïcode ".repeat(40), body: "\r\nBcc: eve@evil.example\r\n" },
      key,
    );
    const [{ raw } = { raw: "" }] = server.gmail.sent;
    const [head = ""] = `${raw}`.split("\r\n\r\n", 1);
    expect(head).not.toMatch(/^(?:bcc|cc):/im);
    expect(head.split("\r\n").every((line) => line.length < 100)).toBe(true);
    expect(server.gmail.mailboxOf(user.address).messages[0]?.email.to).toMatchObject([{ address: bob.address }]);
  });
});

describe("an account that allowed only a part", () => {
  it("has the allowed domains, and no right to write without the scope", async (test) => {
    const { server, store } = await connect(test);
    server.oauth.consent.scopes = [
      ..."openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/gmail.readonly".split(
        " ",
      ),
    ];
    const { connection, missing } = await connectAccount(server, store, { name: "Dee", address: "dee@acme.example" });
    expect([connection.domains, missing.length]).toEqual([["mail"], 5]);
    const { mail, calendar } = await openGoogle({ store, id: connection.id });
    expect(calendar).toBeUndefined();
    expect(await mail?.status()).toMatchObject({ canWrite: false });
    const attempt = mail?.sendMail(outgoing, key);
    await expect(attempt).rejects.toMatchObject({ type: "permission" });
  });
});
