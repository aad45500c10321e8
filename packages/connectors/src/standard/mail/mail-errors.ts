import { ConnectorError, type ConnectorErrorType } from "../../ports/connector-error.ts";

const checkPassword = "check user and password, then: troupe connect mail";

/** Errors of imapflow, by their fields: its classes exist only after it is loaded. */
interface ImapError {
  authenticationFailed?: unknown;
  serverResponseCode?: unknown;
  responseStatus?: unknown;
  code?: unknown;
  throttleReset?: unknown;
  tlsFailed?: unknown;
}

/** Response codes of RFC 5530 and RFC 2180. */
const imapCodes: Readonly<Record<string, [ConnectorErrorType, string]>> = {
  AUTHENTICATIONFAILED: ["auth", "the mail server does not accept the user or the password"],
  AUTHORIZATIONFAILED: ["auth", "the mail server does not accept the user"],
  EXPIRED: ["auth", "the password has expired"],
  PRIVACYREQUIRED: ["permission", "the mail server refuses connections without TLS"],
  CONTACTADMIN: ["permission", "the mail server asks the user to contact its administrator"],
  NOPERM: ["permission", "the account has no permission for this folder"],
  OVERQUOTA: ["permission", "the mailbox is full"],
  LIMIT: ["rate_limit", "the mail server accepts no more calls now"],
  UNAVAILABLE: ["network", "the mail server is not available now"],
  INUSE: ["network", "the folder is in use"],
  SERVERBUG: ["network", "the mail server has an internal error"],
};

/** The error of a connector for an error of imapflow. No text of the server gets into it. */
export function fromImapError(thrown: unknown, host: string): unknown {
  if (thrown instanceof ConnectorError || !(thrown instanceof Error)) return thrown;
  const error = thrown as ImapError;
  const known = imapCodes[String(error.serverResponseCode)];
  if (error.authenticationFailed && known?.[0] !== "rate_limit" && known?.[0] !== "network") {
    const message = known?.[1] ?? "the mail server does not accept the user or the password";
    return new ConnectorError("auth", `${host}: ${message}`, { fix: checkPassword, cause: thrown });
  }
  if (known) return new ConnectorError(known[0], `${host}: ${known[1]}`, { cause: thrown });
  if (error.code === "ETHROTTLE") {
    const retryAfterS = Math.ceil(Number(error.throttleReset ?? 0) / 1_000);
    const details = retryAfterS > 0 ? { retryAfterS, cause: thrown } : { cause: thrown };
    return new ConnectorError("rate_limit", `${host}: the mail server accepts no more calls now`, details);
  }
  if (error.responseStatus === "NO" || error.responseStatus === "BAD") {
    return new ConnectorError("tool_error", `${host}: the mail server refused the command`, { cause: thrown });
  }
  return unreachable(host, thrown);
}

/** The error for a server that cannot be reached, or whose connection was lost. */
export function unreachable(host: string, cause: unknown): ConnectorError {
  const code = codeOf(cause);
  const isTls = /CERT|TLS|SSL|SIGN|VERIFY|ISSUER|ALTNAME/i.test(code);
  const problem = isTls ? "its certificate or TLS version is not accepted" : "it cannot be reached";
  const fix = isTls
    ? "check the host; for a certificate of your own authority set NODE_EXTRA_CA_CERTS"
    : "check host, port and network, then try again";
  return new ConnectorError("network", `${host}: ${problem}${code === "" ? "" : ` (${code})`}`, { fix, cause });
}

function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return /^[A-Za-z0-9_]{1,60}$/.test(code) ? code : "";
}

/** Errors of nodemailer, by their fields. */
export interface SmtpError {
  code?: unknown;
  responseCode?: unknown;
  response?: unknown;
  command?: unknown;
}

const permanentFirst = 500;
const tooManyCodes = [421, 450, 452, 454];

/** The error of a connector for a refusal by SMTP. The reply of the server is a reason that people have to see. */
export function fromSmtpError(thrown: unknown, host: string): unknown {
  if (thrown instanceof ConnectorError || !(thrown instanceof Error)) return thrown;
  const error = thrown as SmtpError;
  const status = Number(error.responseCode);
  const reply = smtpReply(error);
  if (error.code === "EAUTH" || error.code === "ENOAUTH" || status === 535 || status === 530) {
    return new ConnectorError("auth", `${host}: the mail server does not accept the user or the password`, {
      fix: checkPassword,
      cause: thrown,
    });
  }
  if (status >= permanentFirst) {
    return new ConnectorError("params", `${host} refused the mail: ${reply}`, { param: paramOf(error), cause: thrown });
  }
  if (tooManyCodes.includes(status)) {
    return new ConnectorError("rate_limit", `${host} accepts no mail now: ${reply}`, { cause: thrown });
  }
  if (status > 0)
    return new ConnectorError("network", `${host} does not take the mail now: ${reply}`, { cause: thrown });
  return unreachable(host, thrown);
}

function paramOf({ command }: SmtpError): string {
  if (command === "MAIL FROM") return "from";
  return command === "RCPT TO" ? "to" : "body";
}

/** One line of the server's reply. */
export function smtpReply({ response, responseCode }: SmtpError): string {
  const text = typeof response === "string" ? response : String(responseCode ?? "");
  return text
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, 300);
}
