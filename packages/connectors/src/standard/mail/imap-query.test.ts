import { searchCompiler } from "imapflow/lib/search-compiler";
import { describe, expect, test } from "vitest";
import { MailQuery } from "../../ports/mail.ts";
import { isWithinSpan, toImapSearch } from "./imap-query.ts";

/** The command as the library sends it. */
function commandOf(query: MailQuery): string {
  const connection = { capabilities: new Map(), enabled: new Set() };
  const text = (part: unknown): string =>
    Array.isArray(part) ? `(${part.map(text).join(" ")})` : String((part as { value: unknown }).value);
  const compiled = searchCompiler(connection as never, toImapSearch(MailQuery.parse(query)));
  return compiled.map(text).join(" ");
}

describe("the search of IMAP", () => {
  test.for([
    { query: {}, command: "UNDELETED" },
    { query: { subject: "budget" }, command: "SUBJECT budget NOT NOT UNDELETED" },
    { query: { isUnread: true }, command: "UNSEEN NOT NOT UNDELETED" },
    { query: { isUnread: false }, command: "SEEN NOT NOT UNDELETED" },
    { query: { from: '"Ana Ruiz"' }, command: "FROM Ana Ruiz NOT NOT UNDELETED" },
    { query: { to: "ana" }, command: "OR TO ana CC ana NOT NOT UNDELETED" },
    { query: { text: '"" * ( ) ^ :' }, command: "UNDELETED" },
    {
      query: { since: "2026-03-02T01:00:00+02:00", until: "2026-03-02T12:00:00Z" },
      command: "SENTSINCE 28-Feb-2026 NOT NOT (SENTBEFORE 04-Mar-2026 NOT NOT UNDELETED)",
    },
  ])("for $query is $command", ({ query, command }) => {
    expect(commandOf(query)).toBe(command);
  });

  test("needs all words, each in the subject, the text or a name", () => {
    const command = commandOf({ text: "invoice NOT" });
    for (const word of ["invoice", "NOT"]) {
      for (const field of ["SUBJECT", "BODY", "FROM", "TO", "CC"]) expect(command).toContain(`${field} ${word}`);
    }
    expect(command.match(/\bOR\b/g)).toHaveLength(8);
  });

  test("of a thread looks at three headers", () => {
    const command = commandOf({ thread: "<1@acme.example>" });
    for (const name of ["MESSAGE-ID", "REFERENCES", "IN-REPLY-TO"]) {
      expect(command).toContain(`HEADER ${name} <1@acme.example>`);
    }
  });
});

test.for([
  { at: "2026-03-02T00:00:00Z", isWithin: true },
  { at: "2026-03-01T23:59:59Z", isWithin: false },
  { at: "2026-03-02T11:59:59Z", isWithin: true },
  { at: "2026-03-02T12:00:00Z", isWithin: false },
])("the exact time $at is within the span: $isWithin", ({ at, isWithin }) => {
  const span = { since: "2026-03-02T00:00:00Z", until: "2026-03-02T12:00:00Z" };
  expect(isWithinSpan(Date.parse(at), span)).toBe(isWithin);
});
