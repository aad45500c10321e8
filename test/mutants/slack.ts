import type { Mutant } from "./mutant.ts";

const slack = "packages/connectors/src/slack";
const faults = "test/conformance/slack-faults.test.ts";
const fault = `${faults} > a fault of Slack`;
const unknownOutcome = `${faults} > a post whose outcome is unknown`;
const account = `${faults} > a connected account`;
const port = "test/conformance/slack.test.ts > channels of Slack with a token of a user";

/** Breaks the posts, errors, tokens, names and searches of Slack's adapter. */
const edits: readonly Omit<Mutant, "rows" | "part">[] = [
  {
    name: "a post to Slack has no mark of its key",
    file: `${slack}/slack-post.ts`,
    find: "metadata: { event_type: eventType, event_payload: mark },",
    replace: "metadata: { event_type: eventType, event_payload: { content: mark.content } },",
    tests: [unknownOutcome, `${port} > a post > happens once for a key, and a new key posts again`],
  },
  {
    name: "an earlier post to Slack is looked for on one page",
    file: `${slack}/slack-post.ts`,
    find: "const pagesMax = 5;",
    replace: "const pagesMax = 1;",
    tests: [`${unknownOutcome} > is found behind the messages of many other members`],
  },
  {
    name: "an earlier reply in Slack is looked for in the channel",
    file: `${slack}/slack-post.ts`,
    find: 'const method = thread === null ? "conversations.history" : "conversations.replies";',
    replace: 'const method = "conversations.history";',
    tests: [`${unknownOutcome} > because the answer was lost is not repeated by the next try`],
  },
  {
    name: "a used key accepts another message for Slack",
    file: `${slack}/slack-post.ts`,
    find: "if (earlier && earlier.metadata?.event_payload.content !== mark.content) {",
    replace: "if (earlier && mark.content === key) {",
    tests: [`${port} > a post > with the key of another content is refused`],
  },
  {
    name: "two tries at once post twice in Slack",
    file: `${slack}/slack-channels.ts`,
    find: "return once(key, () => postSlackMessage(scope, clock, content, key));",
    replace: "return postSlackMessage(scope, clock, content, key);",
    tests: [`${unknownOutcome} > is not repeated by tries at the same moment`],
  },
  {
    name: "a text of a post is a format of Slack",
    file: `${slack}/slack-post.ts`,
    find: 'text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),',
    replace: "text,",
    tests: [`${port} > a post > is the newest message of its channel, with its text as it is`],
  },
  {
    name: "the SDK of Slack repeats calls by itself",
    file: `${slack}/slack-api.ts`,
    find: "retryConfig: { retries: 0 },",
    replace: "retryConfig: { retries: 2, minTimeout: 1 },",
    tests: [fault],
  },
  {
    name: "a call of Slack has no time limit",
    file: `${slack}/slack-api.ts`,
    find: "    timeout: timeoutMs,\n",
    replace: "",
    tests: [`${fault} > that lasts longer than the time limit is a network error`],
  },
  {
    name: "an answer of Slack is not read by its schema",
    file: `${slack}/slack-api.ts`,
    find: "if (!parsed.success) throw unreadable(method, parsed.error);\n      return parsed.data;",
    replace: "return (parsed.success ? parsed.data : answer) as never;",
    tests: [fault],
  },
  {
    name: "a rate limit of Slack is in milliseconds",
    file: `${slack}/slack-errors.ts`,
    find: "{ retryAfterS: seconds }",
    replace: "{ retryAfterS: seconds * 1_000 }",
    tests: [fault],
  },
  {
    name: "a failure of Slack's server is final",
    file: `${slack}/slack-errors.ts`,
    find: 'const type = status >= serverErrorFirst ? "network" : "tool_error";',
    replace: 'const type = status > serverErrorFirst ? "network" : "tool_error";',
    tests: [fault],
  },
  {
    name: "a missing scope of Slack has no name",
    file: `${slack}/slack-errors.ts`,
    find: 'needed === "" ? "a scope"',
    replace: 'needed !== null ? "a scope"',
    tests: [fault],
  },
  {
    name: "a revoked token of Slack can be refreshed",
    file: `${slack}/slack-channels.ts`,
    find: 'thrown.message.includes("token_expired") && access.refresh ? "expired"',
    replace: 'thrown.message.includes("token_expired") ? "expired"',
    tests: [`${faults} > the status > of token_expired is revoked`],
  },
  {
    name: "each token of Slack may post",
    file: `${slack}/slack-channels.ts`,
    find: 'const canWrite = !scopes || scopes.includes("chat:write");',
    replace: "const canWrite = !scopes || scopes.length > 0;",
    tests: [`${faults} > the status > knows that a token without chat:write cannot post`],
  },
  {
    name: "two processes use one refresh token of Slack",
    file: `${slack}/slack-access.ts`,
    find: "if (opened.secrets.token !== seen && !expiresWithin(opened, spareMs)) return opened;",
    replace: "if (opened.secrets.token === null) return opened;",
    tests: [`${account} > obtains a new token after the old one expired, also for other processes`],
  },
  {
    name: "the new refresh token of Slack is lost",
    file: `${slack}/slack-access.ts`,
    find: "secrets: { ...secrets, token: access_token, refreshToken: refresh_token },",
    replace: "secrets: { ...secrets, token: access_token },",
    tests: [`${account} > obtains a new token after the old one expired, also for other processes`],
  },
  {
    name: "a token is stored before Slack has accepted it",
    file: `${slack}/connect-slack.ts`,
    find: "  const call = createSlackCall({ apiUrl, timeoutMs }, async () => token);\n",
    replace:
      "  const call = createSlackCall({ apiUrl, timeoutMs }, async () => token);\n" +
      '  const early = { id: "slack/new", kind: "slack" as const, account: "", createdAt: "", settings: {} };\n' +
      '  await store.put({ ...early, domains: ["channels"] }, { token });\n',
    tests: [`${account} > is not stored with the token xoxp-unknown-token`],
  },
  {
    name: "missing scopes of Slack are not named",
    file: `${slack}/connect-slack.ts`,
    find: "needed.filter((scope) => !granted.includes(scope))",
    replace: "needed.filter((scope) => granted.length === 0 && scope)",
    tests: [`${account} > names the scopes that its token lacks`],
  },
  {
    name: "a text of Slack has ids instead of names",
    file: `${slack}/slack-messages.ts`,
    find: "text: slackText(textOf(message), textNames),",
    replace: "text: textOf(message),",
    tests: [`${faults} > a workspace > shows names for the ids in a text`],
  },
  {
    name: "the end of a span of Slack belongs to it",
    file: `${slack}/slack-messages.ts`,
    find: "Date.parse(until) * 1_000 - 1",
    replace: "Date.parse(until) * 1_000",
    tests: [`${faults} > a workspace > is read up to the end of a span, without the message of that moment`],
  },
  {
    name: "each page of a thread of Slack has its first message",
    file: `${slack}/slack-messages.ts`,
    find: "const fresh = query.cursor === null ? messages : messages.filter(({ ts }) => ts !== query.message);",
    replace: "const fresh = messages;",
    tests: [`${port} > a thread has its first message and all replies, oldest first, in pages`],
  },
  {
    name: "Slack without the scope for private channels shows no channel",
    file: `${slack}/slack-directory.ts`,
    find: 'if (!(thrown instanceof ConnectorError) || !thrown.message.includes("groups:read")) throw thrown;',
    replace: "if (thrown) throw thrown;",
    tests: [`${faults} > a workspace > with a private channel is read without the scope for private channels`],
  },
  {
    name: "the channels of Slack are those of one page",
    file: `${slack}/slack-directory.ts`,
    find: "if (!next) break;",
    replace: "if (!next || all.length > 0) break;",
    tests: [`${faults} > a workspace > of many channels, members and messages is read by pages`],
  },
  {
    name: "a failed lookup of a member of Slack stays",
    file: `${slack}/slack-directory.ts`,
    find: "known.catch(() => users.delete(id));",
    replace: "known.catch(() => {});",
    tests: [`${faults} > a member whose name could not be read has it in the next list`],
  },
  {
    name: "a name of two members of Slack means the first",
    file: `${slack}/slack-directory.ts`,
    find: "if (match && matches.length === 1) return match;",
    replace: "if (match) return match;",
    tests: [`${port} > a member > with a name of two members is refused, with both handles`],
  },
];

export const mutants: readonly Mutant[] = edits.map((mutant) => ({ ...mutant, rows: [], part: "slack" }));
