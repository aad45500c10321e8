import { expect, test } from "vitest";
import { parseMailServer } from "./connect-standard.ts";

test.for([
  { kind: "imap", text: "imap.acme.example", server: { host: "imap.acme.example", port: 993, security: "tls" } },
  { kind: "smtp", text: " smtp.acme.example ", server: { host: "smtp.acme.example", port: 465, security: "tls" } },
  { kind: "imap", text: "mail:143", server: { host: "mail", port: 143, security: "starttls" } },
  { kind: "smtp", text: "mail:587", server: { host: "mail", port: 587, security: "starttls" } },
  { kind: "smtp", text: "mail:2465", server: { host: "mail", port: 2465, security: "tls" } },
  { kind: "smtp", text: "starttls://mail", server: { host: "mail", port: 587, security: "starttls" } },
  { kind: "imap", text: "plain://[::1]:1143", server: { host: "::1", port: 1143, security: "plain" } },
] as const)("$kind $text is $server", ({ kind, text, server }) => {
  expect(parseMailServer(kind, text)).toEqual(server);
});

test.for(["", "imap acme", "https://acme.example", "acme.example:port", "a:b:c"])("%s is not a server", (text) => {
  expect(() => parseMailServer("imap", text)).toThrowError(expect.objectContaining({ type: "params", param: "imap" }));
});
