import { expect, test } from "vitest";
import { MailQuery } from "../../ports/mail.ts";
import { gmailQuery } from "./gmail-query.ts";

test.for([
  { query: {}, q: "" },
  { query: { text: "invoice from:boss -in:inbox" }, q: '"invoice" "from:boss" "-in:inbox"' },
  { query: { text: 'budget "next  year" OR {x}' }, q: '"budget" "next year" "OR" "{x}"' },
  { query: { text: '"unclosed) in:trash' }, q: '"unclosed)" "in:trash"' },
  { query: { text: '"" * ( ) ^ :' }, q: "" },
  { query: { from: "ana ruiz", to: "bob@client.example" }, q: 'from:"ana" from:"ruiz" to:"bob@client.example"' },
  { query: { subject: 'a" in:trash "b' }, q: 'subject:"a" subject:"in:trash" subject:"b"' },
  {
    query: { folder: "archive", isUnread: false, hasAttachment: true },
    q: "-in:inbox -in:sent -in:drafts -is:unread has:attachment",
  },
  {
    query: { since: "2026-03-02T09:00:00.500Z", until: "2026-03-03T09:00:00Z" },
    q: "after:1772441999 before:1772528401",
  },
] as const)("$query", ({ query, q }) => {
  expect(gmailQuery(MailQuery.parse(query))).toBe(q);
});
