/** The adapters of Google keep the contracts of their ports, through the SDKs over sockets. */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openConnectionStore, type Person } from "@troupe/connectors";
import { describe } from "vitest";
import { composeMail } from "../../packages/connectors/src/mail/compose-mail.ts";
import { openAccount } from "../harness/google-server/connect-account.ts";
import { startGoogleServer } from "../harness/google-server/start-google-server.ts";
import { calendarConformance } from "./calendar-connector.ts";
import { contactsConformance, sampleContacts } from "./contacts-connector.ts";
import { type ArrivingMail, mailConformance } from "./mail-connector.ts";

const user: Person = { name: "Me", address: "me@acme.example" };
const colleague: Person = { name: "Dee", address: "dee@acme.example" };
const clock = { now: () => Date.UTC(2026, 2, 2, 12) };

async function createAccount() {
  const folder = await mkdtempDisposable(join(tmpdir(), "troupe-google-"));
  const server = await startGoogleServer();
  const store = openConnectionStore(folder.path);
  const open = (person: Person) => openAccount(server, store, person, { clock });
  return {
    server,
    open,
    ...(await open(user)),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder.remove();
    },
  };
}

describe("mail of Google", () => {
  mailConformance(async () => {
    const made = await createAccount();
    const { server, mail } = made;
    let count = 0;
    return {
      mail,
      user,
      async arrive({ sentAt, inReplyTo, messageId, cc = [], attachments = [], ...message }: ArrivingMail) {
        count += 1;
        const parts = { ...message, to: [user], cc, bcc: [], attachments, headers: {} };
        const ids = {
          messageId: messageId ?? `<${count}@acme.example>`,
          references: inReplyTo === undefined ? [] : [inReplyTo],
        };
        const raw = await composeMail({ ...parts, ...ids }, { keepsBcc: true });
        await server.gmail.arrive(user.address, raw, Date.parse(sentAt));
      },
      sentCount: async (subject) => server.gmail.sent.filter((sent) => sent.subject === subject).length,
      [Symbol.asyncDispose]: made[Symbol.asyncDispose],
    };
  });
});

describe("the calendar of Google", () => {
  calendarConformance(async () => {
    const made = await createAccount();
    const { calendar } = await made.open(colleague);
    return {
      calendar: made.calendar,
      user,
      colleague: { person: colleague, calendar },
      [Symbol.asyncDispose]: made[Symbol.asyncDispose],
    };
  });
});

describe("contacts of Google", () => {
  contactsConformance(async () => {
    const made = await createAccount();
    const { people } = made.server;
    people.pageSizeMax = 2;
    people.connections = sampleContacts.map(({ name, emails, phones, organization, title }, i) => ({
      resourceName: `people/c${i}`,
      names: [{ displayName: name }],
      emailAddresses: emails.map((value) => ({ value })),
      phoneNumbers: phones.map((value) => ({ value })),
      ...(organization === null
        ? {}
        : { organizations: [{ name: organization, ...(title === null ? {} : { title }) }] }),
    }));
    return { contacts: made.contacts, [Symbol.asyncDispose]: made[Symbol.asyncDispose] };
  });
});
