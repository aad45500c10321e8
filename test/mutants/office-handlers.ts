import type { Mutant } from "./mutant.ts";

const handlers = "packages/connectors/src/handlers";
const base = `${handlers}/base/define-domain-agent.ts`;
const baseTest = `${handlers}/base/define-domain-agent.test.ts`;
const workTest = `${handlers}/base/request-work.test.ts > the next turn`;
const fourExamples = `${handlers}/domains/four-examples.test.ts`;
const refused = `${handlers}/domains/refused-requests.test.ts`;
const everyPattern = `${handlers}/domains/office-domains.test.ts > a request`;
const master = `${handlers}/office/office-handler.test.ts > the master`;
const patternTest = "packages/connectors/src/intents/match-intent.test.ts";
const projectUpdate = `${fourExamples} > a project update goes to two people outside, and its delivery is checked`;
const wholeIntent = `${baseTest} > the intent > has format, criteria, risk, tools, parameters, notes and the error plan before any tool runs`;

/** Breaks the handlers of the office: intents, turns, answers, patterns and the master. */
export const mutants: readonly Mutant[] = [
  {
    name: "a work makes calls although no turn is left",
    rows: ["S4.1"],
    file: `${handlers}/base/request-work.ts`,
    find: "else if (turnsLeft > 0)",
    replace: "else if (turnsLeft >= 0)",
    tests: [
      `${workTest} > fails with no turn left`,
      `${master} > answers with the results so far when no turn is left`,
    ],
  },
  {
    name: "a domain agent has ten iterations",
    rows: ["S4.1"],
    file: base,
    find: "const iterationsMax = 3;",
    replace: "const iterationsMax = 10;",
    tests: [
      `${baseTest} > the definition > is an agent of one domain with three iterations and the tools of the domain alone`,
    ],
  },
  {
    name: "an intent has no success criteria",
    rows: ["S4.2"],
    file: base,
    find: 'successCriteria: Object.values(plan.criteria).join(" "),',
    replace: 'successCriteria: "",',
    tests: [wholeIntent, projectUpdate],
  },
  {
    name: "an intent drops its problem",
    rows: ["S4.2"],
    file: base,
    find: "    ...(problem ? { problem } : {}),",
    replace: "",
    tests: [`${refused} > before any tool runs`],
  },
  {
    name: "a mail to people outside is of medium risk",
    rows: ["S4.2"],
    file: `${handlers}/domains/mail/send-plan.ts`,
    find: "risk: external.length > 0 || to.length > fewPeopleMax",
    replace: "risk: to.length > fewPeopleMax",
    tests: [projectUpdate],
  },
  {
    name: "the progress of a turn is not stated",
    rows: ["S4.4b"],
    file: base,
    find: "if (state.results.length === 0 || total === 0) return note;",
    replace: "if (total >= 0) return note;",
    tests: [projectUpdate],
  },
  {
    name: "a criterion that is not met counts as met",
    rows: ["S4.4b", "S4.13"],
    file: base,
    find: "reached.has(field) ? [] : [sentence]",
    replace: "reached.has(field) ? [] : []",
    tests: [`${baseTest} > the work > names a criterion that the results do not meet, and is less sure`],
  },
  {
    name: "a work goes on after a failed call",
    rows: ["S4.4b", "S4.13"],
    file: `${handlers}/base/request-work.ts`,
    find: "if (!result.ok) throw failureOf(result);",
    replace: "",
    tests: [
      `${workTest} > never comes behind a failed call: its error has the type and the tool`,
      `${baseTest} > the work > fails after a failed call, with its type and tool`,
    ],
  },
  {
    name: "no phrasing blocks time",
    rows: ["S4.10"],
    file: "packages/connectors/patterns/calendar.yaml",
    find: "(?:block|reserve|keep)(?: (?:off",
    replace: "(?:bar)(?: (?:off",
    tests: [
      `${patternTest} > calendar block`,
      `${everyPattern} > calendar block: block two hours tomorrow at 10am for writing`,
    ],
  },
  {
    name: "a post has the tool of a search",
    rows: ["S4.10"],
    file: "packages/connectors/patterns/slack.yaml",
    find: "tools: [slack_post_message]",
    replace: "tools: [slack_search_messages]",
    tests: [`${everyPattern} > slack post: tell #general that lunch is at noon`],
  },
  {
    name: "the arguments of the first call are not checked",
    rows: ["S4.13"],
    file: base,
    find: 'if (first.kind === "calls") base.validate(first);',
    replace: "",
    tests: [`${baseTest} > the intent > has a problem if the arguments do not fit the schema of the tool`],
  },
  {
    name: "every domain gets all tools",
    rows: ["S4.14"],
    file: `${handlers}/domains/office-scope.ts`,
    find: "tools.filter(({ spec }) => spec.name.startsWith(prefix))",
    replace: "tools.filter(({ spec }) => spec.name !== prefix)",
    tests: [
      `${handlers}/create-office-handlers.test.ts > the office > gives each tool to the agent of its domain, and to no other`,
    ],
  },
  {
    name: "revoked access stops no request",
    rows: ["S4.14"],
    file: `${handlers}/base/readiness.ts`,
    find: 'if (auth === "revoked") {',
    replace: 'if (auth === "revoked" && changes === null) {',
    tests: [`${handlers}/base/readiness.test.ts > stops: revoked access`],
  },
  {
    name: "an event is created without a look for conflicts",
    rows: ["S4.15"],
    file: `${handlers}/domains/calendar/create-plan.ts`,
    find: "isAllDay ? { conflicts: [], unknown: [] }",
    replace: "isAllDay || people.length > 0 ? { conflicts: [], unknown: [] }",
    tests: [`${fourExamples} > a team meeting is created after a look for conflicts`],
  },
  {
    name: "a channel is read thirty days back",
    rows: ["S4.15"],
    file: `${handlers}/domains/slack/channel-window.ts`,
    find: 'const timeRangeDefault = "7d";',
    replace: 'const timeRangeDefault = "30d";',
    tests: [`${fourExamples} > a channel is read seven days and a hundred messages back, and summed up`],
  },
  {
    name: "the delivery of a sent mail is not asked for",
    rows: ["S4.15"],
    file: `${handlers}/domains/mail/delivery.ts`,
    find: '    const { delivery } = yield* calls.read(SentMail, tool, { message_id }, "Checks the delivery.");\n',
    replace: "    const { delivery } = sent;\n    if (message_id === tool) yield* calls.call(tool, {});\n",
    tests: [projectUpdate],
  },
];
