import { createHash } from "node:crypto";
import type { CallPreview } from "@troupe/core";
import type { Outward } from "@troupe/core/tool";
import { readAttachments } from "../../attachments/read-attachments.ts";
import type { OutgoingAttachment } from "../../ports/mail.ts";
import type { Person } from "../../ports/person.ts";
import type { OfficeCall } from "../calls/office-call.ts";
import { domainOf, externalAddresses } from "../risk/own-domains.ts";
import { personText } from "../text/arguments.ts";
import { plainLine, plainText } from "../text/plain-text.ts";

/** A mail before it is sent or stored. */
export interface MailContent {
  to: readonly Person[];
  cc: readonly Person[];
  bcc: readonly Person[];
  subject: string;
  body: string;
  attachments: readonly OutgoingAttachment[];
}

const bodyCharactersMax = 5_000;
const lineCharactersMax = 200;

/** The mail as its recipients will see it. */
export function mailPreview(mail: MailContent, account: string, { deps }: OfficeCall): CallPreview {
  const isExternal = externalAddresses({ account, ownDomains: deps.ownDomains });
  const addresses = [...mail.to, ...mail.cc, ...mail.bcc].map(({ address }) => address);
  const lines = (people: readonly Person[]) => people.map((person) => plainLine(personText(person), lineCharactersMax));
  return {
    ...{ kind: "email", from: account },
    ...{ to: lines(mail.to), cc: lines(mail.cc), bcc: lines(mail.bcc) },
    subject: plainLine(mail.subject, lineCharactersMax),
    body: plainText(mail.body, bodyCharactersMax),
    attachments: mail.attachments.map(({ name, content }) => ({
      name: plainLine(name, lineCharactersMax),
      bytes: content.byteLength,
      digest: createHash("sha256").update(content).digest("hex"),
    })),
    external: [...new Set(addresses.filter(isExternal))],
  };
}

/** Reads files of the workspace as attachments. */
export function attachmentsOf(paths: readonly string[], { context }: OfficeCall): Promise<OutgoingAttachment[]> {
  return paths.length === 0 ? Promise.resolve([]) : readAttachments(paths, { folder: context.workspace });
}

/** The content of a mail that leaves this machine. Its host is the domain of the recipients, if they have one in common. */
export function mailOutward(
  people: readonly Person[],
  texts: readonly string[],
  attachments: readonly string[],
): Outward {
  const domains = new Set(people.map(({ address }) => domainOf(address)));
  const [host = null] = domains.size === 1 ? domains : [];
  const written = [...people.map(personText), ...texts];
  return { host, characters: attachments.length > 0 ? null : written.reduce((sum, text) => sum + text.length, 0) };
}
