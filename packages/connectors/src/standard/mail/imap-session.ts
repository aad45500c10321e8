import { loadOptional } from "@troupe/core/internal";
import type { ImapFlow } from "imapflow";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { MailFolder } from "../../ports/mail.ts";
import type { CheckedAccount } from "../standard-options.ts";
import { fromImapError } from "./mail-errors.ts";

/** One connection to the IMAP server, with the folders of the account. */
export interface ImapSession {
  client: ImapFlow;
  /** Paths by folder. A folder can be missing. */
  paths: ReadonlyMap<MailFolder, string>;
  /** Opens a folder for the time of `act`. */
  within<Result>(folder: MailFolder, act: (opened: OpenedFolder) => Promise<Result>): Promise<Result>;
  /** The path of a folder, which is created if it is missing. */
  ensureFolder(folder: "sent" | "drafts"): Promise<string>;
}

/** A folder, as long as it is open. Uids are valid for one `uidValidity`. */
export interface OpenedFolder {
  folder: MailFolder;
  path: string;
  uidValidity: string;
}

/** Connects, acts and disconnects. A connection that waits between two calls would keep the process alive. */
export async function withImap<Result>(
  account: CheckedAccount,
  act: (session: ImapSession) => Promise<Result>,
): Promise<Result> {
  const { imap, user, username, password, timeoutMs } = account;
  if (!imap) throw new ConnectorError("permission", "the account has no IMAP server", { fix: "troupe connect mail" });
  const { ImapFlow } = await loadOptional("imapflow@~2.1.2", () => import("imapflow"));
  const client = new ImapFlow({
    ...{ host: imap.host, port: imap.port, secure: imap.security === "tls" },
    ...(imap.security === "tls" ? {} : { doSTARTTLS: imap.security === "starttls" }),
    auth: { user: username ?? user.address, pass: password },
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
    ...{ disableAutoIdle: true, logger: false, clientInfo: { name: "troupe" } },
  });
  // Without a listener, an error between two commands ends the process. The next command fails with it.
  client.on("error", () => {});
  try {
    await client.connect();
    const result = await act(await createSession(client));
    await client.logout().catch(() => client.close());
    return result;
  } catch (thrown) {
    client.close();
    throw fromImapError(thrown, imap.host);
  }
}

const folderNames = { sent: "Sent", drafts: "Drafts" } as const;

async function createSession(client: ImapFlow): Promise<ImapSession> {
  const paths = new Map<MailFolder, string>([["inbox", "INBOX"]]);
  const specialUses: Readonly<Record<string, MailFolder>> = {
    "\\Sent": "sent",
    "\\Drafts": "drafts",
    "\\Archive": "archive",
  };
  for (const { path, specialUse } of await client.list()) {
    const folder = specialUses[specialUse ?? ""];
    if (folder && !paths.has(folder)) paths.set(folder, path);
  }
  return {
    client,
    paths,
    async within(folder, act) {
      const path = paths.get(folder);
      if (path === undefined) throw new ConnectorError("params", `the mailbox has no folder for ${folder}`);
      const lock = await client.getMailboxLock(path);
      try {
        const uidValidity = client.mailbox ? String(client.mailbox.uidValidity) : "0";
        return await act({ folder, path, uidValidity });
      } finally {
        lock.release();
      }
    },
    async ensureFolder(folder) {
      const known = paths.get(folder);
      if (known !== undefined) return known;
      const { path } = await client.mailboxCreate(folderNames[folder]);
      paths.set(folder, path);
      return path;
    },
  };
}
