import type { Mutant } from "./mutant.ts";

const standard = "packages/connectors/src/standard";
const mailTest = "test/conformance/standard-mail.test.ts";
const davTest = "test/conformance/standard-dav.test.ts";
const accountTest = `${mailTest} > an account of IMAP and SMTP`;
const noStartTls = `${accountTest} > never sends its password to a server of`;
const errors = `${standard}/mail/mail-errors.ts`;
const ofImap = `${standard}/mail/mail-errors.test.ts > an error of IMAP`;
const ofSmtp = `${standard}/mail/mail-errors.test.ts > an error of SMTP`;
const options = `${standard}/standard-options.ts`;
const write = `${standard}/dav/write-event.ts`;
const writeTest = `${standard}/dav/write-event.test.ts`;
const dav = `${standard}/dav/dav-client.ts`;
const davClientTest = `${standard}/dav/dav-client.test.ts`;
const davFault = `${davTest} > a fault of a server of CalDAV`;
const copy = `${standard}/dav/dav-copy.ts`;
const copyTest = `${standard}/dav/dav-copy.test.ts > a copy`;
const realMail = `${mailTest} > mail at real servers`;
const realCalendar = `${davTest} > a real server > a calendar`;
const query = `${standard}/mail/imap-query.ts`;
const queryTest = `${standard}/mail/imap-query.test.ts`;

type Edit = Omit<Mutant, "rows" | "part">;

const passwords: readonly Edit[] = [
  {
    name: "a password leaves this machine without TLS",
    file: options,
    find: "if (allowPlain) return [];",
    replace: "if (allowPlain || Date.now() > 0) return [];",
    tests: [accountTest],
  },
  {
    name: "a password goes to a server of CardDAV without TLS",
    file: options,
    find: '    ["carddav", plainHost(carddav)],\n',
    replace: "",
    tests: [accountTest],
  },
  {
    name: "a host that begins with 127 is this machine",
    file: options,
    find: 'isIP(bare) === 4 && bare.startsWith("127.")',
    replace: 'isIP(bare) !== 6 && bare.startsWith("127.")',
    tests: [accountTest],
  },
  {
    name: "IMAP goes on without the STARTTLS that it needs",
    file: `${standard}/mail/imap-session.ts`,
    find: '{ doSTARTTLS: imap.security === "starttls" }',
    replace: '{ doSTARTTLS: imap.security === "starttls" && imap.port < 1 }',
    tests: [`${noStartTls} imap that offers no STARTTLS`],
  },
  {
    name: "SMTP goes on without the STARTTLS that it needs",
    file: `${standard}/mail/smtp-session.ts`,
    find: 'requireTLS: server.security === "starttls"',
    replace: "requireTLS: false",
    tests: [`${noStartTls} smtp that offers no STARTTLS`],
  },
  {
    name: "an account is stored without a test of its IMAP server",
    file: `${standard}/connect-standard.ts`,
    find: "if (account.imap) await withImap(account, async () => {});",
    replace: "",
    tests: [`${noStartTls} imap that offers no STARTTLS`],
  },
  {
    name: "an account is stored without a test of its SMTP server",
    file: `${standard}/connect-standard.ts`,
    find: "if (account.smtp) await checkSmtp(account);",
    replace: "",
    // With only one server, the account has no domain to store.
    tests: [`${noStartTls} smtp that offers no STARTTLS`],
  },
];

const mailErrors: readonly Edit[] = [
  {
    name: "a throttled mail server is tried again too late",
    file: errors,
    find: "Math.ceil(Number(error.throttleReset ?? 0) / 1_000)",
    replace: "Math.ceil(Number(error.throttleReset ?? 0))",
    tests: [ofImap],
  },
  {
    name: "a busy mail server has refused the password",
    file: errors,
    find: 'if (error.authenticationFailed && known?.[0] !== "rate_limit" && known?.[0] !== "network") {',
    replace: "if (error.authenticationFailed) {",
    tests: [ofImap],
  },
  {
    name: "a certificate that is not accepted is a lost connection",
    file: errors,
    find: "const problem = isTls ?",
    replace: 'const problem = isTls && code === "" ?',
    tests: [ofImap],
  },
  {
    name: "a full mail server has lost the connection",
    file: errors,
    find: "const tooManyCodes = [421, 450, 452, 454];",
    replace: "const tooManyCodes = [421];",
    tests: [ofSmtp],
  },
  {
    name: "an unknown recipient is a mistake of the body",
    file: errors,
    find: 'return command === "RCPT TO" ? "to" : "body";',
    replace: 'return "body";',
    tests: [ofSmtp],
  },
  {
    name: "the reply of a mail server has several lines",
    file: errors,
    find: '    .replace(/[\\p{Cc}\\s]+/gu, " ")\n',
    replace: "",
    tests: [ofSmtp],
  },
  {
    name: "a search of IMAP loses mails of the first day",
    file: query,
    find: "sentSince: midnight(Date.parse(query.since) - dayMs)",
    replace: "sentSince: midnight(Date.parse(query.since))",
    tests: [`${queryTest} > the search of IMAP`],
  },
  {
    name: "a search of IMAP finds deleted mails",
    file: query,
    find: "    { deleted: false },\n",
    replace: "",
    tests: [`${queryTest} > the search of IMAP`],
  },
  {
    name: "the end of a span of mails belongs to it",
    file: query,
    find: "sentMs < Date.parse(until)",
    replace: "sentMs <= Date.parse(until)",
    tests: [`${queryTest} > the exact time 2026-03-02T12:00:00Z is within the span: false`],
  },
];

/** The normal run has no server of mail: only the long run shows these. */
const sentOnce: readonly Edit[] = [
  {
    name: "a mail that may have been sent is not in doubt",
    file: `${standard}/mail/send-mail.ts`,
    find: '["\\\\Seen", pendingFlag])',
    replace: '["\\\\Seen"])',
    tests: [
      `${realMail} > a fault > of a connection that is lost before the answer is in doubt, and the mail is never sent again`,
    ],
    long: true,
  },
  {
    name: "a mail that may have been sent leaves no copy",
    file: `${standard}/mail/send-mail.ts`,
    find: "if (!(thrown instanceof UnknownOutcome)) await",
    replace: "await",
    tests: [
      `${realMail} > a fault > of a connection that is lost before the answer is in doubt, and the mail is never sent again`,
    ],
    long: true,
  },
  {
    name: "a mail that was not sent blocks its key",
    file: `${standard}/mail/send-mail.ts`,
    find: "if (!(thrown instanceof UnknownOutcome)) await",
    replace: "if (account.smtp === null) await",
    tests: [`${realMail} > a fault > of the server for sending alone leaves no copy`],
    long: true,
  },
  {
    name: "a used key sends another mail by SMTP",
    file: `${standard}/mail/send-mail.ts`,
    find: "if (earlier.message.messageId === composed.messageId) return;",
    replace: "if (key !== composed.messageId) return;",
    tests: [`${realMail} > sending > another mail with a used key is refused, and not sent`],
    long: true,
  },
  {
    name: "a sent mail is not found by its key",
    file: `${standard}/mail/mail-ids.ts`,
    find: ".update(`${kind} ${address} ${key}`)",
    replace: ".update(`${kind} ${address} ${key} ${Math.random()}`)",
    tests: [`${realMail} > sending > twice with one key sends once, and the status by the key tells about it`],
    long: true,
  },
  {
    name: "a hidden recipient of SMTP is shown to the others",
    file: `${standard}/mail/send-mail.ts`,
    find: "composeMail(composed, { keepsBcc: false })",
    replace: "composeMail(composed, { keepsBcc: true })",
    tests: [`${realMail} > arrives in the inbox of another account, by IMAP with tls and SMTP with tls`],
    long: true,
  },
  {
    name: "a refused recipient counts as reached later",
    file: `${standard}/mail/send-mail.ts`,
    find: '{ ...composed, headers: { [refusedHeader]: refused.join(" ") } }',
    replace: "composed",
    tests: [`${realMail} > a fault > of one recipient is told for that recipient, also later`],
    long: true,
  },
];

const calendars: readonly Edit[] = [
  {
    name: "a new event can replace another one",
    file: dav,
    find: '{ "If-None-Match": "*" }',
    replace: "{}",
    tests: [`${davClientTest} > an object > of a new name is stored only if the name is free`],
  },
  {
    name: "a change overwrites the change of another program",
    file: dav,
    find: '{ "If-Match": etag }',
    replace: "{}",
    tests: [`${davClientTest} > an object > is changed and deleted only in the version that was read`],
  },
  {
    name: "an event that another program has changed is deleted",
    file: dav,
    find: "dav.deleteObject({ url, etag, fetch: request })",
    replace: "dav.deleteObject({ url, fetch: request })",
    tests: [`${davClientTest} > an object > is changed and deleted only in the version that was read`],
  },
  {
    name: "a lost race is a stored event",
    file: dav,
    find: "status === preconditionFailed || status === conflict || status === notFound",
    replace: "status === conflict || status === notFound",
    tests: [`${davClientTest} > an object > that another program changed first (412) is not stored, and not deleted`],
  },
  {
    name: "a folder is one of its own events",
    file: dav,
    find: 'props?.getetag && !hasType(props?.resourcetype, "collection")',
    replace: "props?.getetag",
    tests: [`${davClientTest} > the versions of a collection are those of its objects, by their whole URLs`],
  },
  {
    name: "a refused password of CalDAV is a broken tool",
    file: dav,
    find: "if (status === 401) {",
    replace: "if (status === 407) {",
    tests: [davFault],
  },
  {
    name: "a rate limit of CalDAV has no time",
    file: dav,
    find: "retryAfterS > 0 ? { retryAfterS } : {}",
    replace: "retryAfterS > 900 ? { retryAfterS } : {}",
    tests: [davFault],
  },
  {
    name: "a call of CalDAV has no time limit",
    file: dav,
    find: "signal: AbortSignal.timeout(timeoutMs)",
    replace: "signal: AbortSignal.timeout(timeoutMs * 1_000)",
    tests: [`${davFault} > that never answers is a network error after the time limit`],
  },
  {
    name: "a copy reads collections that have not changed",
    file: copy,
    find: "if (known !== undefined && known !== null && known === collection.ctag) return;",
    replace: "if (known === collection.url) return;",
    tests: [`${copyTest} > asks nothing about a collection that has not changed`],
  },
  {
    name: "a copy takes a collection without a tag for an unchanged one",
    file: copy,
    find: "known !== undefined && known !== null && known === collection.ctag",
    replace: "known !== undefined && known === collection.ctag",
    tests: [`${copyTest} > compares the versions of all objects if the server names none of the collection`],
  },
  {
    name: "a copy reads unchanged objects again",
    file: copy,
    find: "objects.get(url)?.etag !== etag",
    replace: "objects.get(url)?.etag !== null && etag",
    tests: [`${copyTest} > reads only the changed object, in place of its earlier version`],
  },
  {
    name: "a copy keeps deleted objects",
    file: copy,
    find: "for (const url of gone) drop(url);",
    replace: "",
    tests: [`${copyTest} > loses the objects that the server no longer has`],
  },
  {
    name: "a copy keeps the objects of a collection that is gone",
    file: copy,
    find: "if (object.startsWith(url)) drop(object);",
    replace: "if (object === url) drop(object);",
    tests: [`${copyTest} > loses the objects of a collection that is gone, and reads them again with it`],
  },
  {
    name: "a copy does not read its own change again",
    file: copy,
    find: "      ctags.clear();\n",
    replace: "",
    tests: [`${copyTest} > reads an object again after a change of its own, even in a collection with the same tag`],
  },
  {
    name: "a deleted occurrence comes back",
    file: write,
    find: 'root.component.addProperty(timeProperty("exdate", timeLike(master.start, originalMs, account)));',
    replace: "",
    tests: [`${writeTest} > deleted occurrences are dates, and changed ones are events`],
  },
  {
    name: "an occurrence stays deleted for ever",
    file: write,
    find: '  root.component.removeAllProperties("exdate");\n',
    replace: "",
    tests: [`${writeTest} > deleted occurrences are dates, and changed ones are events`],
  },
  {
    name: "a change removes what other programs have written",
    file: write,
    find: "before === null ? newCalendar() : new ICAL.Component(ICAL.parse(before))",
    replace: "newCalendar()",
    tests: [`${writeTest} > a change keeps the properties of other programs, and is a newer version`],
  },
  {
    name: "a changed event has the version of the earlier one",
    file: write,
    find: "isNew ? sequence : sequence + 1",
    replace: "sequence",
    tests: [`${writeTest} > a change keeps the properties of other programs, and is a newer version`],
  },
  {
    name: "a change of the guests forgets their other properties",
    file: write,
    find: 'const property = before.get(address) ?? personProperty("attendee", { name, address });',
    replace: 'const property = personProperty("attendee", { name, address });',
    tests: [`${writeTest} > guests who stay keep their other properties`],
  },
  {
    name: "an event names a zone without its rules",
    file: write,
    find: "  addZones(calendar, master);\n",
    replace: "",
    tests: [`${writeTest} > a written event is read again as it was`],
  },
  {
    name: "the clocks change in the fifth week",
    file: `${standard}/dav/zone-rules.ts`,
    find: "day + 7 > daysInMonth ? -1 : Math.ceil(day / 7)",
    replace: "Math.ceil(day / 7)",
    tests: [`${writeTest} > the rules of a zone are its next changes of the clock, or its only offset`],
  },
  {
    name: "a folded line of a calendar is another content",
    file: `${standard}/dav/standard-calendar.ts`,
    find: '      .replace(/\\r?\\n[ \\t]/g, "")\n',
    replace: "",
    tests: [`${realCalendar} > an event > is created once for a key, with its instants`],
    long: true,
  },
  {
    name: "a used key creates another event at CalDAV",
    file: `${standard}/dav/standard-calendar.ts`,
    find: "if (known) return checkedEvent(own, { id, data: known.data, hash, key });",
    replace: "if (known) return own.calendar.getEvent(id);",
    tests: [`${realCalendar} > an event > with a used key and another content is refused`],
    long: true,
  },
];

export const mutants: readonly Mutant[] = [...passwords, ...mailErrors, ...sentOnce, ...calendars].map((mutant) => ({
  ...mutant,
  rows: [],
  part: "standard",
}));
