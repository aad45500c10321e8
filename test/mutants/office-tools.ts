import type { Mutant } from "./mutant.ts";

const tools = "packages/connectors/src/tools";
const officeCall = `${tools}/calls/office-call.ts`;
const retries = `${tools}/calls/retries.ts`;
const retryTest = `${tools}/calls/retries.test.ts`;
const before = `${retryTest} > before the first call`;
const mailTest = `${tools}/email/mail-tools.test.ts`;
const calendarTest = `${tools}/calendar/calendar-tools.test.ts`;
const officeTest = `${tools}/office-tools.test.ts`;
const riskOfPreview = `${tools}/risk/risk-of-preview.ts`;
const riskTest = "test/tools/office-risk.test.ts";
const hostile = "test/hostile/hostile-mails.test.ts > a model that obeys a stranger's text";
const toolHost = "packages/tools/src/tool-host.ts";
const previewTest = "packages/tools/src/previewed-calls.test.ts";
const higher = `${previewTest} > a call whose preview shows a higher risk than its arguments`;

/** Breaks the checks, retries, risk, previews and idempotency of the office tools. */
export const mutants: readonly Mutant[] = [
  {
    name: "a connection that can only read may send",
    rows: ["S4.4a"],
    file: officeCall,
    find: "if (changes && !canWrite) {",
    replace: "if (changes && !canWrite && account === null) {",
    tests: [before],
  },
  {
    name: "a used up rate limit is not looked at",
    rows: ["S4.4a"],
    file: officeCall,
    find: "rateLimit !== null && rateLimit.remaining <= 0",
    replace: "rateLimit !== null && rateLimit.remaining < 0",
    tests: [before],
  },
  {
    name: "an event may begin in the past",
    rows: ["S4.4a"],
    file: `${tools}/calendar/event-times.ts`,
    find: "if (!isPast) return;",
    replace: "if (!isPast || nowMs > 0) return;",
    tests: [`${calendarTest} > an event is refused with a params error`],
  },
  {
    name: "an address may have a second line",
    rows: ["S4.4a"],
    file: `${tools}/text/arguments.ts`,
    find: "address: bracketed ?? text });",
    replace: 'address: (bracketed ?? text).split("\\n")[0] });',
    tests: [`${mailTest} > a mail is refused with a params error`],
  },
  {
    name: "an error says milliseconds",
    rows: ["S4.6a"],
    file: `${tools}/calls/error-output.ts`,
    find: "retry_after: Math.ceil(retryAfterS)",
    replace: "retry_after: Math.ceil(retryAfterS * 1_000)",
    tests: [`${retryTest} > a rate limit > ends the call after two retries, with the seconds in the output`],
  },
  {
    name: "every error is a tool_error",
    rows: ["S4.6a"],
    file: `${tools}/calls/error-output.ts`,
    find: "    error: {\n      type,",
    replace: '    error: {\n      type: type === "auth" ? type : "tool_error",',
    tests: [`${retryTest} > an error that no retry can fix`],
  },
  {
    name: "a failed preview has no JSON output",
    rows: ["S4.6a"],
    file: toolHost,
    find: "const output = thrown instanceof RunFailure ? thrown.output : null;",
    replace: "const output = thrown instanceof RunFailure ? null : null;",
    tests: [`${riskTest} > an approval > is not asked for a call that cannot succeed: its error is a JSON output`],
  },
  {
    name: "a token is refreshed without an end",
    rows: ["S4.7"],
    file: officeCall,
    find: "if (access.isRefreshed || access.isRevoked || !connector.refresh) return false;",
    replace: "if (access.isRevoked || !connector.refresh) return false;",
    tests: [`${retryTest} > an expired token`],
  },
  {
    name: "a rate limit is tried again three times",
    rows: ["S4.7"],
    file: retries,
    find: "rate_limit: 2, network: 3 } as const",
    replace: "rate_limit: 3, network: 3 } as const",
    tests: [`${retryTest} > a rate limit`],
  },
  {
    name: "pauses do not grow",
    rows: ["S4.7"],
    file: retries,
    find: "backoffMs[type] * 2 ** (retry - 1)",
    replace: "backoffMs[type] * 2 ** (0 * retry)",
    tests: [`${retryTest} > a lost connection`],
  },
  {
    name: "a lost send is sent again without a question for its delivery",
    rows: ["S4.7"],
    file: retries,
    find: "const known = inDoubt && done ? await done() : null;",
    replace: "const known = inDoubt && done && used.network > 9 ? await done() : null;",
    tests: [`${retryTest} > a lost connection`],
  },
  {
    name: "six recipients are as good as one",
    rows: ["S4.8a"],
    file: riskOfPreview,
    find: "count > recipientsMax ?",
    replace: "count > recipientsMax + 1 ?",
    tests: [`${riskTest} > the risk of a call`],
  },
  {
    name: "every address of gmail.com is inside",
    rows: ["S4.8a"],
    file: `${tools}/risk/own-domains.ts`,
    find: 'return domain === "" || sharedDomains.has(domain) ? [] : [domain];',
    replace: 'return domain === "" ? [] : [domain];',
    tests: [`${riskTest} > own domains > never contain a service where everyone can have an address`],
  },
  {
    name: "the people of an event count only after the change",
    rows: ["S4.8a"],
    file: `${tools}/calendar/event-output.ts`,
    find: "...(before?.attendees ?? [])",
    replace: "...(before?.attendees ?? []).slice(0, 0)",
    tests: [`${riskTest} > the risk of a call`],
  },
  {
    name: "the tool host starts a call without a look at its preview",
    rows: ["S4.8b"],
    file: toolHost,
    find: "if (bound.command || preview !== null) {",
    replace: "if (bound.command) {",
    tests: [
      `${higher} > does not run without an approval, even if only its arguments were looked at before`,
      `${riskTest} > an approval > of a mail is not valid for another content of its attachment`,
    ],
  },
  {
    name: "an approval is valid for every preview",
    rows: ["S4.8b"],
    file: toolHost,
    find: "digest: hashText(canonicalJson(preview)) }]",
    replace: 'digest: hashText(canonicalJson({ ...preview, kind: "", to: [], title: "", attachments: [] })) }]',
    tests: [
      `${previewTest} > an approval is valid for the preview that the person saw > and for no other one`,
      `${riskTest} > an approval > of a deletion is not valid after the event has changed`,
    ],
  },
  {
    name: "invisible characters stay in a preview",
    rows: ["S4.8b"],
    file: `${tools}/text/plain-text.ts`,
    find: "[^\\P{Cc}\\n\\t]|[\\p{Cf}\\p{Default_Ignorable_Code_Point}]",
    replace: "[^\\P{Cc}\\n\\t]",
    tests: [`${riskTest} > an approval > shows a mail as its recipients will see it`],
  },
  {
    name: "a hidden recipient is inside",
    rows: ["S4.8c"],
    file: `${tools}/email/outgoing-mail.ts`,
    find: "[...mail.to, ...mail.cc, ...mail.bcc].map",
    replace: "[...mail.to, ...mail.cc].map",
    tests: [hostile],
  },
  {
    name: "mail is not private",
    rows: ["S4.8c"],
    file: `${tools}/email/read-mail-tools.ts`,
    find: "private: [`mailbox <${account}>`]",
    replace: "private: []",
    tests: [hostile, `${mailTest} > the text of mails > counts as written by its senders, and as private`],
  },
  {
    name: "a subdomain of a domain that looks like the own one is inside",
    rows: ["S4.8c"],
    file: `${tools}/risk/own-domains.ts`,
    find: "!domains.has(domainOf(folded))",
    replace: "![...domains].some((domain) => domainOf(folded).endsWith(domain))",
    tests: [hostile],
  },
  {
    name: "a tool has another name",
    rows: ["S4.9a"],
    file: `${tools}/contacts/create-contact-tools.ts`,
    find: 'name: "contacts_get_by_id"',
    replace: 'name: "contacts_get"',
    tests: [`${officeTest} > the office tools > have fixed names, in the groups of their domains`],
  },
  {
    name: "a domain lacks a tool",
    rows: ["S4.9a"],
    file: `${tools}/slack/create-channel-tools.ts`,
    find: "analyzeTool(deps), postMessageTool(deps)",
    replace: "analyzeTool(deps), ...[postMessageTool(deps)].slice(1)",
    tests: [`${officeTest} > the office tools > have fixed names, in the groups of their domains`],
  },
  {
    name: "a channel is read over all times",
    rows: ["S4.9b"],
    file: `${tools}/slack/time-range.ts`,
    find: 'const rangeDefault = "7d";',
    replace: 'const rangeDefault = "700d";',
    tests: [`${officeTest} > a channel`],
  },
  {
    name: "an event may lie over a busy time",
    rows: ["S4.9b"],
    file: `${tools}/calendar/conflicts.ts`,
    find: "if (conflicts.length === 0) return;",
    replace: "if (conflicts.length < 99) return;",
    tests: [`${calendarTest} > an event`],
  },
  {
    name: "a question counts as a decision",
    rows: ["S4.9b"],
    file: `${tools}/slack/analysis/findings.ts`,
    find: "decision.test(sentence) && !undecided.test(sentence)",
    replace: "/decision/i.test(sentence) || decision.test(sentence)",
    tests: [`${tools}/slack/analysis/analyze-conversation.test.ts > the analysis of #project-alpha`],
  },
  {
    name: "each try of a mail has a key of its own",
    rows: ["S4.9c"],
    file: officeCall,
    find: "key: { idempotencyKey: context.idempotencyKey },",
    replace: "key: { idempotencyKey: `${context.idempotencyKey} ${Math.random()}` },",
    tests: [`${mailTest} > a mail > is sent once for each call, however often the call runs`],
  },
  {
    name: "a repeated call conflicts with its own event",
    rows: ["S4.9c"],
    file: `${tools}/calendar/create-event-tool.ts`,
    find: "if (created === null) {",
    replace: "if (created === null || created.id) {",
    tests: [
      `${calendarTest} > an event > is created once for each call: a repeated call does not conflict with its own event`,
      "test/e2e/office-tool-kill.test.ts > a process that is killed between the act of a tool and its outcome",
    ],
  },
  {
    name: "a dry run sends",
    rows: ["S4.9d"],
    file: `${tools}/calls/office-tool.ts`,
    find: "if (!isDryRun(args)) return await tool.run(args, call);",
    replace: "if (!isDryRun(args) || name.length > 0) return await tool.run(args, call);",
    tests: [`${mailTest} > a mail > is not sent by a dry run, which shows it`],
  },
  {
    name: "a dry run shows nothing",
    rows: ["S4.9d"],
    file: `${tools}/calls/office-tool.ts`,
    find: "preview: await tool.preview(args, call)",
    replace: "preview: null",
    tests: [`${officeTest} > a channel > gets nothing in a dry run, nor with an unknown thread`],
  },
];
