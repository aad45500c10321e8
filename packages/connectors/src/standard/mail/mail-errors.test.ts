import { describe, expect, test } from "vitest";
import { fromImapError, fromSmtpError } from "./mail-errors.ts";

const errorWith = (fields: object) => Object.assign(new Error("text of the server with secret-1"), fields);

describe("an error of IMAP", () => {
  test.for([
    { fields: { authenticationFailed: true }, type: "auth" },
    { fields: { authenticationFailed: true, serverResponseCode: "EXPIRED" }, type: "auth" },
    { fields: { authenticationFailed: true, serverResponseCode: "UNAVAILABLE" }, type: "network" },
    { fields: { authenticationFailed: true, serverResponseCode: "LIMIT" }, type: "rate_limit" },
    { fields: { serverResponseCode: "OVERQUOTA", responseStatus: "NO" }, type: "permission" },
    { fields: { serverResponseCode: "NOPERM", responseStatus: "NO" }, type: "permission" },
    { fields: { code: "ETHROTTLE", throttleReset: 2_500 }, type: "rate_limit", retryAfterS: 3 },
    { fields: { responseStatus: "BAD" }, type: "tool_error" },
    { fields: { code: "ECONNREFUSED" }, type: "network" },
    { fields: { code: "CONNECT_TIMEOUT" }, type: "network" },
    { fields: { code: "CERT_HAS_EXPIRED" }, type: "network", text: "its certificate or TLS version is not accepted" },
    { fields: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, type: "network", text: "NODE_EXTRA_CA_CERTS" },
  ])("with $fields is $type", ({ fields, type, retryAfterS = null, text = "imap.acme.example" }) => {
    const error = fromImapError(errorWith(fields), "imap.acme.example");
    expect(error).toMatchObject({ type, retryAfterS, message: expect.stringContaining(text) });
    expect(String(error)).not.toContain("secret-1");
  });
});

describe("an error of SMTP", () => {
  test.for([
    { fields: { code: "EAUTH", responseCode: 535 }, type: "auth", param: null },
    { fields: { responseCode: 530, command: "MAIL FROM" }, type: "auth", param: null },
    { fields: { responseCode: 550, command: "RCPT TO", response: "550 no such\r\nuser" }, type: "params", param: "to" },
    { fields: { responseCode: 553, command: "MAIL FROM" }, type: "params", param: "from" },
    { fields: { responseCode: 554, command: "DATA" }, type: "params", param: "body" },
    { fields: { responseCode: 421 }, type: "rate_limit", param: null },
    { fields: { responseCode: 452 }, type: "rate_limit", param: null },
    { fields: { responseCode: 451 }, type: "network", param: null },
    { fields: { code: "ESOCKET" }, type: "network", param: null },
  ])("with $fields is $type", ({ fields, type, param }) => {
    const error = fromSmtpError(errorWith(fields), "smtp.acme.example");
    expect(error).toMatchObject({ type, param, message: expect.not.stringMatching(/[\r\n]/) });
  });
});
