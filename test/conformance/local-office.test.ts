/** The local office keeps the contracts of all four ports. */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalOffice, openLocalOffice, type Person } from "@troupe/connectors";
import { addChannelMessage, addMessage, putChannel, putContact, putMember } from "@troupe/connectors/internal";
import { describe } from "vitest";
import { calendarConformance } from "./calendar-connector.ts";
import { channelsConformance, sampleChannelMessages, sampleChannels, sampleMembers } from "./channels-connector.ts";
import { contactsConformance, sampleContacts } from "./contacts-connector.ts";
import { type ArrivingMail, mailConformance } from "./mail-connector.ts";

const user: Person = { name: "Me", address: "me@acme.example" };
const colleague: Person = { name: "Dee", address: "dee@acme.example" };
const clock = { now: () => Date.UTC(2026, 2, 2, 12) };

async function createOffice() {
  const made = await mkdtempDisposable(join(tmpdir(), "troupe-office-"));
  const open = (person: Person): LocalOffice =>
    openLocalOffice({ folder: join(made.path, "office"), user: person, timeZone: "Europe/Berlin", clock });
  const office = open(user);
  const others: LocalOffice[] = [];
  return {
    office,
    openOther() {
      const other = open(colleague);
      others.push(other);
      return other;
    },
    async [Symbol.asyncDispose]() {
      for (const opened of [office, ...others]) opened.close();
      await made.remove();
    },
  };
}

describe("mail of a local office", () => {
  mailConformance(async () => {
    const made = await createOffice();
    const { mail, account } = made.office;
    let count = 0;
    return {
      mail,
      user,
      async arrive({ sentAt, inReplyTo, ...message }: ArrivingMail) {
        count += 1;
        addMessage(account.database, account.mailbox, {
          ...{ messageId: `<${count}@acme.example>`, cc: [], attachments: [], bcc: [], to: [user] },
          ...{ folder: "inbox", isUnread: true, sentMs: Date.parse(sentAt) },
          ...message,
          references: inReplyTo === undefined ? [] : [inReplyTo],
        });
      },
      sentCount: async (subject) => (await mail.searchMessages({ folder: "sent", subject })).items.length,
      [Symbol.asyncDispose]: made[Symbol.asyncDispose],
    };
  });
});

describe("the calendar of a local office", () => {
  calendarConformance(async () => {
    const made = await createOffice();
    return {
      calendar: made.office.calendar,
      user,
      colleague: { person: colleague, calendar: made.openOther().calendar },
      [Symbol.asyncDispose]: made[Symbol.asyncDispose],
    };
  });
});

describe("contacts of a local office", () => {
  contactsConformance(async () => {
    const made = await createOffice();
    const { contacts, account } = made.office;
    for (const contact of sampleContacts) putContact(account.database, { uid: contact.name, ...contact });
    return { contacts, [Symbol.asyncDispose]: made[Symbol.asyncDispose] };
  });
});

describe("channels of a local office", () => {
  channelsConformance(async () => {
    const made = await createOffice();
    const { channels, account } = made.office;
    for (const channel of sampleChannels) putChannel(account.database, channel);
    for (const member of sampleMembers) putMember(account.database, member);
    for (const { sentAt, ...message } of sampleChannelMessages) {
      addChannelMessage(account.database, { ...message, sentMs: Date.parse(sentAt), reactions: [] });
    }
    return { channels, [Symbol.asyncDispose]: made[Symbol.asyncDispose] };
  });
});
