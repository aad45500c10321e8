import { ConnectorError } from "../../ports/connector-error.ts";
import type { CheckedAccount, MailServer } from "../standard-options.ts";
import { fromSmtpError, type SmtpError, smtpReply, unreachable } from "./mail-errors.ts";

/** The answer of the server to a mail. */
export interface SmtpResult {
  accepted: string[];
  rejected: { address: string; detail: string }[];
}

/** The server may have taken the mail, or not: the connection ended before its answer. */
export class UnknownOutcome extends ConnectorError {}

/** Sends a mail. Throws `UnknownOutcome` if it may have been sent; any other error means that it was not. */
export async function sendBySmtp(
  account: CheckedAccount,
  { recipients, raw }: { recipients: readonly string[]; raw: Buffer },
): Promise<SmtpResult> {
  const { server, connection } = await openSmtp(account);
  try {
    const envelope = { from: account.user.address, to: [...recipients], size: raw.byteLength };
    return await new Promise((resolve, reject) => {
      connection.on("error", (error) => reject(sendError(error, server)));
      connection.on("end", () => reject(lostConnection(server, null)));
      connection.send(envelope, raw, (error, sent) => {
        if (error) return reject(sendError(error, server));
        const rejected = (sent.rejectedErrors ?? []).map((each) => ({
          address: each.recipient ?? "",
          detail: smtpReply(each),
        }));
        resolve({ accepted: sent.accepted, rejected });
      });
    });
  } finally {
    connection.close();
  }
}

/** Connects and logs in, without sending anything. */
export async function checkSmtp(account: CheckedAccount): Promise<void> {
  const { connection } = await openSmtp(account);
  connection.close();
}

async function openSmtp({ smtp: server, user, username, password, timeoutMs }: CheckedAccount) {
  if (!server) throw new ConnectorError("permission", "the account has no SMTP server", { fix: "troupe connect mail" });
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const connection = new SMTPConnection({
    ...{ host: server.host, port: server.port, secure: server.security === "tls" },
    ...{ requireTLS: server.security === "starttls", ignoreTLS: server.security === "plain" },
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs, dnsTimeout: timeoutMs },
    // Servers refuse names that DNS does not know, and the name of this machine is private.
    name: "[127.0.0.1]",
  });
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once("error", reject);
      connection.once("end", () => reject(new Error("the server closed the connection")));
      connection.connect((error) => {
        if (error) return reject(error);
        const auth = { user: username ?? user.address, pass: password };
        connection.login(auth, (refused) => (refused ? reject(refused) : resolve()));
      });
    });
    connection.removeAllListeners();
    return { server, connection };
  } catch (thrown) {
    connection.close();
    throw fromSmtpError(thrown, server.host);
  }
}

/** A reply of the server is a refusal. Without a reply, the outcome is unknown. */
function sendError(error: Error & SmtpError, server: MailServer): unknown {
  return Number(error.responseCode) > 0 ? fromSmtpError(error, server.host) : lostConnection(server, error);
}

function lostConnection({ host }: MailServer, cause: unknown): UnknownOutcome {
  return new UnknownOutcome("network", `${host} did not say whether it took the mail`, {
    fix: "ask deliveryStatus by the key",
    cause: unreachable(host, cause),
  });
}
