import { execFileSync } from "node:child_process";
import { chmod, chown, copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Certificates } from "../certificates.ts";
import { freePort } from "../free-port.ts";
import { programOf, startServer } from "./server-process.ts";

/** The password of all mailboxes. */
export const mailPassword = "mailbox-password-1";

/** An IMAP server of Dovecot: each user with the right password has a mailbox. */
export interface Dovecot {
  /** With TLS from the first byte. */
  tlsPort: number;
  /** Without TLS, and with STARTTLS. */
  plainPort: number;
  /** For the delivery of mail. */
  lmtpPort: number;
  stop(): Promise<void>;
}

export async function startDovecot(parent: string, { cert, key }: Certificates): Promise<Dovecot> {
  const dovecot = programOf("dovecot", "dovecot-imapd dovecot-lmtpd");
  const [tlsPort, plainPort, lmtpPort] = [await freePort(), await freePort(), await freePort()];
  const folder = join(parent, "dovecot");
  const certificates = { ca: "", cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  await mkdir(join(folder, "mail"), { recursive: true });
  await copyFile(cert, certificates.cert);
  await copyFile(key, certificates.key);
  const file = join(folder, "dovecot.conf");
  const owner = ownerOf();
  await writeFile(file, configOf(folder, certificates, owner, { tlsPort, plainPort, lmtpPort }));
  if (owner.isOther) await giveTo(owner, parent, folder);
  const ids = owner.isOther ? { uid: owner.uid, gid: owner.gid } : {};
  const { stop } = await startServer(dovecot, ["-F", "-c", file], [tlsPort, plainPort, lmtpPort], ids);
  return { tlsPort, plainPort, lmtpPort, stop };
}

interface Owner {
  user: string;
  group: string;
  uid: number;
  gid: number;
  /** The server runs as another user than this process. */
  isOther: boolean;
}

/** Parts of Dovecot refuse to run as root. */
function ownerOf(): Owner {
  const { username, uid, gid } = userInfo();
  const idOf = (...args: string[]) => execFileSync("id", args, { encoding: "utf8" }).trim();
  if (uid !== 0) return { user: username, group: idOf("-gn"), uid, gid, isOther: false };
  const ids = { uid: Number(idOf("-u", "nobody")), gid: Number(idOf("-g", "nobody")) };
  return { user: "nobody", group: idOf("-gn", "nobody"), ...ids, isOther: true };
}

async function giveTo({ uid, gid }: Owner, parent: string, folder: string): Promise<void> {
  await chmod(parent, 0o711);
  for (const path of [folder, ...(await readdir(folder)).map((name) => join(folder, name))])
    await chown(path, uid, gid);
}

function configOf(
  folder: string,
  { cert, key }: Certificates,
  { user, group, uid, gid }: Owner,
  { tlsPort, plainPort, lmtpPort }: Record<"tlsPort" | "plainPort" | "lmtpPort", number>,
): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
instance_name = ${folder}
log_path = ${folder}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
first_valid_uid = ${uid}
first_valid_gid = ${gid}
mail_location = maildir:${folder}/mail/%u
auth_mechanisms = plain login
auth_failure_delay = 0
disable_plaintext_auth = no
ssl = yes
ssl_cert = <${cert}
ssl_key = <${key}
passdb {
  driver = static
  args = password=${mailPassword}
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder}/mail/%u allow_all_users=yes
}
namespace inbox {
  inbox = yes
  mailbox Drafts {
    special_use = \\Drafts
    auto = create
  }
  mailbox Archive {
    special_use = \\Archive
    auto = create
  }
  mailbox "Sent Messages" {
    special_use = \\Sent
    auto = create
  }
}
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${plainPort}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${lmtpPort}
  }
}
`;
}
