/** Text in the shape of a secret is found, similar text is left, and no text takes long. */
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it, test } from "vitest";
import { createRedactor } from "./redactor.ts";

const redactor = createRedactor();
const letters = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7".repeat(8);
const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${letters.slice(0, 43)}`;
const pem = `-----BEGIN RSA PRIVATE KEY-----\n${letters.slice(0, 64)}\n${letters.slice(64, 90)}==\n-----END RSA PRIVATE KEY-----`;
const encrypted = pem.replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C\n\n");

describe("text in the shape of a secret is found", () => {
  it.each<[string, string]>([
    [`sk-ant-api03-${letters.slice(0, 40)}-_${letters.slice(40, 60)}`, "API key"],
    [`sk-proj-${letters.slice(0, 60)}`, "API key"],
    [`sk-${letters.slice(0, 48)}`, "API key"],
    [`sk-or-v1-${createHash("sha256").update("x").digest("hex")}`, "API key"],
    [`AIza${letters.slice(0, 35)}`, "API key"],
    ["AKIAIOSFODNN7EXAMPLE", "API key"],
    [
      `SU${letters
        .toUpperCase()
        .replace(/[^A-Z2-7]/g, "")
        .slice(0, 56)}`,
      "private key",
    ],
    [`ghp_${letters.slice(0, 36)}`, "access token"],
    [`github_pat_${letters.slice(0, 22)}_${letters.slice(0, 59)}`, "access token"],
    [`xoxb-1234567890-${letters.slice(0, 24)}`, "access token"],
    [`sk_live_${letters.slice(0, 24)}`, "API key"],
    [`gsk_${letters.slice(0, 52)}`, "API key"],
    [`hf_${letters.slice(0, 34)}`, "API key"],
    [jwt, "JWT"],
    [pem, "private key"],
    [encrypted, "private key"],
    [pem.replaceAll("\n", "\\n"), "private key"],
    [pem.replaceAll("\n", "\r\n"), "private key"],
  ])("%s", (secret, kind) => {
    for (const [before, after] of [
      ["", ""],
      ["x=", "\n"],
      ['{"key":"', '"}'],
      [kind === "JWT" ? "dump " : "dump-", ".txt"],
      ["(", ")."],
    ]) {
      const text = `${before}${secret}${after}`;
      const left = redactor.text(text);
      expect(left).toBe(`${before}[redacted: ${kind}]${after}`);
      expect(redactor.mayBeIn(JSON.stringify({ text }))).toBe(true);
    }
  });

  it.each<[string, string]>([
    [`Authorization: Bearer ${letters.slice(0, 30)}`, "Authorization: Bearer [redacted: credential]"],
    ["authorization: Basic dXNlcjpwYXNzd29yZDE=", "authorization: Basic [redacted: credential]"],
    [`{"Authorization":"Bearer ${letters.slice(0, 30)}"}`, '{"Authorization":"Bearer [redacted: credential]"}'],
    [`\\"x-api-key\\": \\"${letters.slice(0, 30)}\\"`, '\\"x-api-key\\": \\"[redacted: credential]\\"'],
    [`used bearer ${letters.slice(0, 30)}.`, "used bearer [redacted: credential]"],
    ["postgres://ann:hunter2!x@db:5432/shop", "postgres://ann:[redacted: password]@db:5432/shop"],
    ["redis://:hunter2!x@cache", "redis://:[redacted: password]@cache"],
    ["https://ann:p@ss@host/x and more", "https://ann:[redacted: password]@host/x and more"],
  ])("%s", (text, expected) => {
    expect(redactor.text(text)).toBe(expected);
    expect(redactor.mayBeIn(JSON.stringify({ text }))).toBe(true);
  });

  it("a truncated private key too, but not the prose after it", () => {
    const cut = pem.slice(0, 80);
    expect(redactor.text(`${cut}"; the rest is gone`)).toBe('[redacted: private key]"; the rest is gone');
    expect(redactor.text("it begins with -----BEGIN PRIVATE KEY----- and goes on")).toContain("and goes on");
  });
});

describe("other text stays, byte for byte:", () => {
  it.each<[string, string]>([
    ["a uuid", "0198a000-0000-7000-8000-00000000000a"],
    ["hashes", `${createHash("sha256").update("x").digest("hex")} ${createHash("sha1").update("x").digest("hex")}`],
    ["prose", "the task-only mode of sk-learn-contrib-imbalanced-learn-2024 and risk-averse sk-8 bearers"],
    ["a word after bearer", "the bearer authentication-mechanisms-of-http, Bearer YOUR_API_KEY_GOES_HERE"],
    ["a header name in prose", "Authorization: required; set the Authorization header of each request"],
    ["a variable", `curl -H "Authorization: Bearer $TOKEN" -H 'x-api-key: \${ANTHROPIC_API_KEY}'`],
    ["URLs", "http://localhost:3000/a@b https://x.io:8443/?q=1 ssh://git@github.com/a/b.git mailto:a@b.c"],
    ["placeholders", "postgres://user:password@localhost/db https://$USER:$PASS@host http://x:***@y"],
    ["base64", `data:image/png;base64,${randomBytes(3_000).toString("base64")}`],
    ["JSON in base64", Buffer.from(JSON.stringify({ a: "b".repeat(200) })).toString("base64")],
    ["two of three parts", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0"],
    ["capital letters", "NAKIAIOSFODNN7EXAMPLE AKIAIOSFODNN7EXAMPLES"],
    ["a public key", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----"],
    ["a mark", "[redacted: API key] Authorization: Bearer [redacted: credential] http://a:[redacted: password]@b"],
  ])("%s", (_, text) => {
    expect(redactor.text(text)).toBe(text);
  });
});

/** Texts made to be tried again and again from every place. */
const hostile: [string, string][] = [
  ...[
    "sk-",
    "sk-a-",
    "sk-ant-",
    "eyJ",
    "_eyJ",
    "eyJaaaaaaaa.",
    "AIza",
    "AKIA",
    "-ghp_",
    "github_pat_",
    "xoxb-",
    "://",
    "://:",
    "://a:b",
  ].map((piece): [string, string] => [piece, piece]),
  ...["Authorization: ", "api-key", "Bearer ", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "[redacted: ", "a:@"].map(
    (piece): [string, string] => [piece, piece],
  ),
  ["a private key without an end", `-----BEGIN PRIVATE KEY-----\n${"A".repeat(40)}`],
  ["headers of a private key", `-----BEGIN PRIVATE KEY-----\n${"Ab: c\n".repeat(9)}`],
  ["the beginning of a value", "k3y-0123456789-012345678"],
  ["one letter", "a"],
];

/** Two megabytes of each take some hundredths of a second; quadratic work would take hours. */
test.each(hostile)("%j, repeated many times, takes little time", (_, piece) => {
  const all = createRedactor({ values: [{ name: "K", value: "k3y-0123456789-0123456789" }] });
  const text = piece.repeat(2_000_000 / piece.length);
  expect(all.text(text).length).toBeGreaterThan(0);
});
