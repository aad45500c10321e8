import { createHash } from "node:crypto";
import { ConnectorError } from "../../ports/connector-error.ts";
import { type MailFolder, mailFolders } from "../../ports/mail.ts";

/** The place of a message: its folder, and its number there. */
export interface MailPlace {
  folder: MailFolder;
  /** A server that numbers a folder anew changes this value. */
  uidValidity: string;
  uid: number;
}

/** The id of a message, like `inbox-1712345-55`. A message that is moved gets another id. */
export function mailId({ folder, uidValidity, uid }: MailPlace): string {
  return `${folder}-${uidValidity}-${uid}`;
}

/** Null for an id that no message can have. */
export function parseMailId(id: string): MailPlace | null {
  const [, name, uidValidity = "", uid = ""] = /^([a-z]+)-(\d{1,12})-(\d{1,10})$/.exec(id) ?? [];
  const folder = mailFolders.find((each) => each === name);
  return folder ? { folder, uidValidity, uid: Number(uid) } : null;
}

export function unknownMessage(id: string): ConnectorError {
  return new ConnectorError("params", `no message of this mailbox has the id ${JSON.stringify(id)}`, {
    param: "id",
    fix: "search for the message and use its id",
  });
}

export type KeyedKind = "send" | "draft";

/** The part of a Message-ID that only calls with this key have. */
export function keyMark(kind: KeyedKind, address: string, key: string): string {
  return `troupe-${kind}-${createHash("sha256").update(`${kind} ${address} ${key}`).digest("hex").slice(0, 32)}`;
}

/** The Message-ID of a mail. It tells about the key and the content, so a repeated call can compare both. */
export function keyedMessageId(mark: string, contentHash: string, address: string): string {
  return `<${mark}.${contentHash.slice(0, 16)}@${address.slice(address.lastIndexOf("@") + 1)}>`;
}
