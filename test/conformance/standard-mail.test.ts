/**
 * Mail by IMAP and SMTP. The long run proves it at real servers of Debian packages: Dovecot, and aiosmtpd, which delivers to
 * Dovecot by LMTP. The normal run needs no server.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempDisposable, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import {
  connectStandard,
  createStandardMail,
  type MailConnector,
  openConnectionStore,
  openStandard,
  type Person,
  type StandardAccount,
} from "@troupe/connectors";
import { ImapFlow } from "imapflow";
import MailComposer from "nodemailer/lib/mail-composer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeCertificates } from "../harness/certificates.ts";
import { troupe } from "../harness/cli.ts";
import { isLong } from "../harness/long.ts";
import { type Dovecot, mailPassword, startDovecot } from "../harness/office-servers/dovecot.ts";
import { type SmtpServer, startSmtpServer } from "../harness/office-servers/smtp-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { type ArrivingMail, mailConformance } from "./mail-connector.ts";

/** A server without STARTTLS. */
const imapAnswer = (line: string) => `* CAPABILITY IMAP4rev1\r\n${line.split(" ")[0]} OK done\r\n`;
const server = { host: "127.0.0.1", port: 1 };
const me: Person = { name: "Me", address: "me@lan.example" };
const keyed = { idempotencyKey: "k1" };

describe("an account of IMAP and SMTP", () => {
  test.for([
    { change: { imap: { ...server, security: "plain" as const, host: "imap.acme.example" } }, param: "imap" },
    { change: { smtp: { ...server, security: "plain" as const, host: "127.0.0.1.evil.example" } }, param: "smtp" },
    { change: { caldav: "http://dav.acme.example/" }, param: "caldav" },
    { change: { carddav: "http://192.168.1.4/" }, param: "carddav" },
    { change: { caldav: "file:///etc/passwd" }, param: "caldav" },
    { change: { imap: { ...server, host: "a b" } }, param: "imap.host" },
    { change: { password: "" }, param: "password" },
  ])("is refused with $change", ({ change, param }) => {
    const options: StandardAccount = { user: me, password: "p", ...change };
    expect(() => createStandardMail(options)).toThrowError(expect.objectContaining({ type: "params", param }));
  });

  test("may send its password without TLS to this machine, or if the user asks for it", () => {
    const plain = { ...server, security: "plain" as const };
    for (const host of ["localhost", "127.0.0.1", "::1"]) {
      expect(createStandardMail({ user: me, password: "p", imap: { ...plain, host } })).toBeDefined();
    }
    const far = { ...plain, host: "imap.acme.example" };
    expect(createStandardMail({ user: me, password: "p", imap: far, allowPlain: true })).toBeDefined();
  });

  test("at a server that cannot be reached is a network error that names the host", async () => {
    const mail = createStandardMail({ user: me, password: "secret-1", imap: server, smtp: server });
    const expected = { type: "network", message: expect.stringContaining("127.0.0.1") };
    await expect(mail.status()).rejects.toMatchObject(expected);
    await expect(mail.searchMessages({})).rejects.toMatchObject(expected);
  });

  test.for([
    { kind: "imap", greeting: "* OK ready\r\n", answer: (line: string) => imapAnswer(line) },
    { kind: "smtp", greeting: "220 ready\r\n", answer: () => "250 mail.acme.example\r\n" },
  ] as const)(
    "never sends its password to a server of $kind that offers no STARTTLS",
    async ({ kind, greeting, answer }) => {
      const received: string[] = [];
      const listener = createServer((socket) => {
        socket.write(greeting);
        socket.on("error", () => {});
        socket.on("data", (chunk) => {
          received.push(String(chunk));
          socket.write(answer(String(chunk)));
        });
      }).listen(0, "127.0.0.1");
      await once(listener, "listening");
      const { port } = listener.address() as AddressInfo;
      const account = {
        user: me,
        password: "secret-1",
        [kind]: { host: "127.0.0.1", port, security: "starttls" as const },
      };
      await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-mail-"));
      const store = openConnectionStore(folder.path);
      await expect(connectStandard(store, account)).rejects.toMatchObject({
        message: expect.stringContaining("127.0.0.1"),
      });
      listener.close();
      expect(received.length).toBeGreaterThan(0);
      expect(received.join("")).not.toMatch(/LOGIN|AUTHENTICATE|AUTH PLAIN|secret-1|c2VjcmV0LTE/i);
      expect(await store.list()).toEqual([]);
    },
  );

  test("without a server for mail has no permission", async () => {
    const mail = createStandardMail({ user: me, password: "secret-1" });
    await expect(mail.searchMessages({})).rejects.toMatchObject({ type: "permission" });
  });
});

function atRealServers(): void {
  let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
  let dovecot: Dovecot;
  let smtp: SmtpServer;
  let smtpTls: SmtpServer;
  const trusted = getCACertificates("default");

  beforeAll(async () => {
    folder = await mkdtempDisposable(join(tmpdir(), "troupe-mail-"));
    const certificates = await makeCertificates(folder.path);
    setDefaultCACertificates([...trusted, await readFile(certificates.ca, "utf8")]);
    dovecot = await startDovecot(folder.path, certificates);
    const { lmtpPort } = dovecot;
    smtp = await startSmtpServer(folder.path, certificates, { lmtpPort, security: "starttls" });
    smtpTls = await startSmtpServer(folder.path, certificates, { lmtpPort, security: "tls" });
  });

  afterAll(async () => {
    setDefaultCACertificates(trusted);
    await smtp?.stop();
    await smtpTls?.stop();
    await dovecot?.stop();
    await folder?.remove();
  });

  function accountOf(user: Person, change: Partial<StandardAccount> = {}): StandardAccount {
    return {
      user,
      password: mailPassword,
      imap: { host: "127.0.0.1", port: dovecot.tlsPort },
      smtp: { host: "127.0.0.1", port: smtp.port, security: "starttls" },
      ...change,
    };
  }

  const newUser = (): Person => ({ name: "Me", address: `${randomUUID()}@lan.example` });

  /** Another client puts a message into the mailbox. */
  async function arriveAt(user: Person, { from, subject, body, sentAt, ...rest }: ArrivingMail): Promise<void> {
    const { messageId, inReplyTo, cc = [], attachments = [] } = rest;
    const composer = new MailComposer({
      ...{ from, to: [user], cc, subject, text: body, date: new Date(sentAt) },
      ...(messageId ? { messageId } : {}),
      ...(inReplyTo ? { inReplyTo } : {}),
      attachments: attachments.map(({ name, ...each }) => {
        return { filename: name, contentType: each.contentType, content: Buffer.from(each.content) };
      }),
    });
    const raw = await composer.compile().build();
    await asClient(user, (client) => client.append("INBOX", raw, [], new Date(sentAt)));
  }

  async function asClient<Result>(user: Person, act: (client: ImapFlow) => Promise<Result>): Promise<Result> {
    const auth = { user: user.address, pass: mailPassword };
    const client = new ImapFlow({
      host: "127.0.0.1",
      port: dovecot.plainPort,
      secure: false,
      doSTARTTLS: false,
      auth,
      logger: false,
    });
    await client.connect();
    try {
      return await act(client);
    } finally {
      await client.logout();
    }
  }

  const takenFrom = async ({ address }: Person, text: string) =>
    (await smtp.taken()).filter((mail) => mail.from === address && mail.data.includes(text));

  mailConformance(async () => {
    const user = newUser();
    return {
      mail: createStandardMail(accountOf(user)),
      user,
      arrive: (mail) => arriveAt(user, mail),
      sentCount: async (subject) => (await takenFrom(user, `Subject: ${subject}\r\n`)).length,
      [Symbol.asyncDispose]: async () => {},
    };
  });

  test.for([
    { imap: "tls", smtpKind: "tls" },
    { imap: "starttls", smtpKind: "starttls" },
    { imap: "plain", smtpKind: "starttls" },
  ] as const)(
    "arrives in the inbox of another account, by IMAP with $imap and SMTP with $smtpKind",
    async ({ imap, smtpKind }) => {
      const [ana, bob] = [newUser(), newUser()];
      const port = imap === "tls" ? dovecot.tlsPort : dovecot.plainPort;
      const sender = createStandardMail(
        accountOf(ana, {
          imap: { host: "127.0.0.1", port, security: imap },
          smtp: { host: "127.0.0.1", port: smtpKind === "tls" ? smtpTls.port : smtp.port, security: smtpKind },
        }),
      );
      const attachments = [{ name: "täst.pdf", contentType: "application/pdf", content: Buffer.from("%PDF") }];
      const mail = { to: [bob], bcc: [ana], subject: "Grüße & <b>", body: "Line 1\n.\nLine 3 ü", attachments };
      const sent = await sender.sendMail(mail, keyed);
      expect(sent).toMatchObject({ status: "accepted", recipients: [{ status: "accepted" }, { status: "accepted" }] });
      const inbox = createStandardMail(accountOf(bob));
      const [found] = await until(async () => {
        const { items } = await inbox.searchMessages({ folder: "inbox" });
        return items.length > 0 && items;
      });
      const { bcc, ...shown } = mail;
      expect(await inbox.getMessage(found?.id ?? "")).toMatchObject({
        ...shown,
        ...{ from: ana, isUnread: true, bcc: [] },
        attachments: [{ name: "täst.pdf", sizeBytes: 4 }],
      });
      expect((await sender.getMessage(sent.id)).bcc).toEqual([ana]);
      const taken = [...(await smtp.taken()), ...(await smtpTls.taken())].filter(({ from }) => from === ana.address);
      expect(taken).toMatchObject([{ to: [bob.address, ana.address], data: expect.not.stringMatching(/^Bcc:/im) }]);
      const reply = await inbox.replyToMessage(found?.id ?? "", { body: "Danke" }, keyed);
      expect(reply.thread).toBe(sent.thread);
    },
  );

  describe("a fault", () => {
    const mail = { to: [{ name: "", address: "bob@client.example" }], subject: "Fault", body: "Hello" };

    test("of a wrong password is an auth error, and the status knows it", async () => {
      const wrong = createStandardMail(accountOf(newUser(), { password: "wrong-password" }));
      await expect(wrong.searchMessages({})).rejects.toMatchObject({
        type: "auth",
        message: expect.not.stringContaining("wrong-password"),
      });
      expect(await wrong.status()).toMatchObject({ auth: "revoked", canWrite: false });
    });

    test("of a certificate that is not trusted is a network error, and no password is sent", async () => {
      setDefaultCACertificates(trusted);
      try {
        const mailbox = createStandardMail(accountOf(newUser()));
        await expect(mailbox.status()).rejects.toMatchObject({
          type: "network",
          message: expect.stringContaining("certificate"),
        });
      } finally {
        setDefaultCACertificates([...trusted, await readFile(join(folder.path, "ca.pem"), "utf8")]);
      }
    });

    test("of one recipient is told for that recipient, also later", async () => {
      const user = newUser();
      const mailbox = createStandardMail(accountOf(user));
      const both = { ...mail, cc: [{ name: "", address: "unknown@client.example" }] };
      const sent = await mailbox.sendMail(both, keyed);
      expect(sent).toMatchObject({
        status: "failed",
        recipients: [
          { address: "bob@client.example", status: "accepted" },
          { address: "unknown@client.example", status: "failed", detail: expect.stringContaining("550 5.1.1") },
        ],
      });
      expect(await mailbox.deliveryStatus(keyed)).toEqual(sent);
      expect(await mailbox.sendMail(both, keyed)).toEqual(sent);
      expect((await mailbox.searchMessages({ folder: "sent" })).items).toHaveLength(1);
      expect(await takenFrom(user, "Fault")).toHaveLength(1);
    });

    test.for([
      { change: { to: [{ name: "", address: "unknown@client.example" }] }, type: "params", text: "no such user" },
      { change: { to: [{ name: "", address: "later@client.example" }] }, type: "network", text: "try again later" },
      { change: { body: "refuse this" }, type: "params", text: "the content is refused" },
    ])("of all recipients or of the content ($text) sends and stores nothing", async ({ change, type, text }) => {
      const user = newUser();
      const mailbox = createStandardMail(accountOf(user));
      const refused = mailbox.sendMail({ ...mail, ...change }, keyed);
      await expect(refused).rejects.toMatchObject({ type, message: expect.stringContaining(text) });
      expect(await mailbox.deliveryStatus(keyed)).toBeNull();
      expect((await mailbox.searchMessages({ folder: "sent" })).items).toEqual([]);
      // The key is free again.
      expect((await mailbox.sendMail(mail, keyed)).status).toBe("accepted");
    });

    test("of a connection that is lost before the answer is in doubt, and the mail is never sent again", async () => {
      const user = newUser();
      const mailbox: MailConnector = createStandardMail(accountOf(user));
      const lost = { ...mail, body: "lose the answer" };
      await expect(mailbox.sendMail(lost, keyed)).rejects.toMatchObject({ type: "network" });
      const inDoubt = { type: "tool_error", message: expect.stringContaining("may have been sent") };
      await expect(mailbox.sendMail(lost, keyed)).rejects.toMatchObject(inDoubt);
      await expect(createStandardMail(accountOf(user)).deliveryStatus(keyed)).rejects.toMatchObject(inDoubt);
      expect(await takenFrom(user, "lose the answer")).toHaveLength(1);
    });

    test("of the server for sending alone leaves no copy", async () => {
      const mailbox = createStandardMail(accountOf(newUser(), { smtp: server }));
      await expect(mailbox.sendMail(mail, keyed)).rejects.toMatchObject({ type: "network" });
      expect(await mailbox.deliveryStatus(keyed)).toBeNull();
    });

    test("of a server that never answers ends after the time limit", async () => {
      const silent = createServer(() => {}).listen(0, "127.0.0.1");
      await new Promise((resolve) => silent.once("listening", resolve));
      const { port } = silent.address() as { port: number };
      const imap = { host: "127.0.0.1", port, security: "plain" as const };
      const mailbox = createStandardMail(accountOf(newUser(), { imap, timeoutMs: 300 }));
      await expect(mailbox.status()).rejects.toMatchObject({ type: "network" });
      silent.close();
    });
  });

  test("is connected by the command line, after a test of each server, and works from the store", async (context) => {
    const home = await tempFolder("connect-mail", context);
    const { address } = newUser();
    const servers = ["--imap", `127.0.0.1:${dovecot.tlsPort}`, "--smtp", `starttls://127.0.0.1:${smtp.port}`];
    const env = { NODE_EXTRA_CA_CERTS: join(folder.path, "ca.pem") };
    const connect = (input: string) => troupe(["connect", "mail", address, ...servers], { home, input, env });
    const refused = await connect("wrong-password");
    expect([refused.code, refused.stdout]).toEqual([4, ""]);
    expect(refused.stderr).not.toContain("wrong-password");
    const { code, stdout } = await connect(`${mailPassword}\n`);
    expect([code, stdout.trim()]).toEqual([0, `connected  standard/${address}  mail  (tested: imap, smtp)`]);
    const opened = await openConnectionStore(home).get(`standard/${address}`);
    const { mail, calendar } = opened ? openStandard(opened) : {};
    expect([await mail?.status(), calendar]).toMatchObject([
      { account: address, auth: "valid", canWrite: true },
      undefined,
    ]);
  });

  test("without a folder for sent mail gets one", async () => {
    const user = newUser();
    await asClient(user, (client) => client.mailboxDelete("Sent Messages"));
    const mailbox = createStandardMail(accountOf(user));
    const mail = { to: [{ name: "", address: "bob@client.example" }], subject: "First", body: "Hello" };
    const sent = await mailbox.sendMail(mail, keyed);
    expect(await mailbox.deliveryStatus({ id: sent.id })).toEqual(sent);
  });
}

if (isLong) describe("mail at real servers", atRealServers);
