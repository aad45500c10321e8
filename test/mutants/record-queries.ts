import type { Mutant } from "./mutant.ts";

const queries = "packages/recorder/src/record/queries";
const searchTest = `${queries}/search.test.ts > a search`;
const sumsTest = "packages/recorder/src/record/session-costs.test.ts > the stored sums of sessions";
const costsTest = `${queries}/costs.test.ts > costs`;
const totalsTest = `${queries}/costs.test.ts > totals`;
const treeTest = `${queries}/tree.test.ts > the tree of a session`;
const timelineTest = `${queries}/tree.test.ts > the timeline of a run`;
const conversationTest = `${queries}/conversation.test.ts > a conversation`;
const lookupsTest = "packages/cli/src/commands/lookups.test.ts";
const pageTest = "test/browser/conversation.test.ts > the conversation of a run";

/** Breaks the promises about looking things up: timelines, conversations, trees, searches, costs and totals. */
export const mutants: readonly Mutant[] = [
  {
    name: "a run queues from its own start on",
    rows: ["S3.7e"],
    file: `${queries}/run-timeline.ts`,
    find: "queuedAt ?? Date.parse(row.startedAt)",
    replace: "Date.parse(row.startedAt)",
    tests: [
      `${timelineTest} > has its queue, model calls, tool calls, children, and the waits for a person, with start and end`,
    ],
  },
  {
    name: "the waits before a reply are forgotten",
    rows: ["S3.7e"],
    file: `${queries}/run-timeline.ts`,
    find: "{ name: reply.model, step, retries }",
    replace: "{ name: reply.model, step }",
    tests: [`${timelineTest} > has failed model calls, and the retries before a reply`],
  },
  {
    name: "the arguments of a call are left out",
    rows: ["S3.7f"],
    file: `${queries}/conversation-items.ts`,
    find: "args: argsCut === null ? args : text",
    replace: "args: null",
    tests: [
      `${conversationTest} > has the request, replies with calls and arguments, results, commands and the answer, in order`,
    ],
  },
  {
    name: "a page of a conversation has no limit",
    rows: ["S3.7f"],
    file: `${queries}/conversation.ts`,
    find: "(bytesLeft < 0 && read > 0)",
    replace: "false",
    tests: [`${conversationTest} > comes in pages of at most 1 MB that together have every part once`],
  },
  {
    name: "escape sequences of a conversation reach the terminal",
    rows: ["S3.7f"],
    file: "packages/cli/src/render/conversation.ts",
    find: "const whole = cleanText(text).trimEnd();",
    replace: "const whole = text.trimEnd();",
    tests: [
      `${lookupsTest} > sessions show --log > prints the whole conversation with calls, arguments and results, and no escape sequence`,
    ],
  },
  {
    name: "a link of a text can be a script",
    rows: ["S3.7f"],
    file: "apps/dashboard/src/components/markdown.tsx",
    find: "if (!/^https?:\\/\\//i.test(href)) {",
    replace: "if (href === null) {",
    tests: [`${pageTest} > renders Markdown, and neither HTML nor images nor scripts of a text`],
  },
  {
    name: "a subtree is only its own run",
    rows: ["S5.8d"],
    file: `${queries}/totals.ts`,
    find: "for (const { run } of above) add(run);",
    replace: "",
    tests: [`${treeTest} > has each run with its parent, its children, its own cost, and the cost with the runs below`],
  },
  {
    name: "the next page begins one run too late",
    rows: ["S5.8d"],
    file: `${queries}/tree.ts`,
    find: "r.seen > ? ORDER BY",
    replace: "r.seen > ? + 1 ORDER BY",
    tests: [`${treeTest} > comes in pages that have every run once`],
  },
  {
    name: "the next page of children repeats the last one",
    rows: ["S5.8d"],
    file: `${queries}/tree.ts`,
    find: "place > after)",
    replace: "place >= after)",
    tests: [`${treeTest} > names the children and the ancestors of a run`],
  },
  {
    name: "words of a search are operators",
    rows: ["S5.8e"],
    file: `${queries}/search-words.ts`,
    find: `return \`"\${text.replaceAll("\\0", " ").replaceAll('"', '""')}"\`;`,
    replace: "return text;",
    tests: [
      `${searchTest} > finds requests, responses, arguments and results, the newest first`,
      "test/e2e/lookups.test.ts > the record of a delegation > never shows an error of SQL for a search",
    ],
  },
  {
    name: "the index keeps the replaced texts of a run",
    rows: ["S5.8e"],
    file: "packages/recorder/src/record/table-migrations.ts",
    find: "CREATE TRIGGER words_update AFTER UPDATE ON messages\nWHEN (",
    replace: "CREATE TRIGGER words_update AFTER UPDATE ON messages\nWHEN 0 AND (",
    tests: [
      `${queries}/search.test.ts > the index of words > agrees with its texts after batches of 3 items, and forgets replaced texts`,
    ],
  },
  {
    name: "an unknown cost is $0",
    rows: ["S5.12h"],
    file: `${queries}/cost-sum.ts`,
    find: "sum.unknownRuns > 0 ? null : sum.knownCostUsd",
    replace: "sum.knownCostUsd",
    tests: [`${costsTest} > of an unknown price are unknown, never $0, with the known part beside`],
  },
  {
    name: "replays and demos are paid",
    rows: ["S5.12h"],
    file: `${queries}/costs.ts`,
    find: "s.is_summed = 1 AND s.offline = 0 AND",
    replace: "s.is_summed = 1 AND",
    tests: [`${costsTest} > leave out demos and replays, and count them`],
  },
  {
    name: "the totals count a cancelled run as a failure",
    rows: ["S5.12i"],
    file: `${queries}/cost-sum.ts`,
    find: 'cancelled: "stopped",',
    replace: 'cancelled: "failed",',
    tests: [
      `${totalsTest} > count how sessions and runs ended; a cancelled or rejected run does not count as a failure`,
    ],
  },
  {
    name: "the cheapest branch is the most expensive",
    rows: ["S5.12i"],
    file: `${queries}/totals.ts`,
    find: ".sort((a, b) => rank(b) - rank(a))",
    replace: ".sort((a, b) => rank(a) - rank(b))",
    tests: [
      `${totalsTest} > name the slowest and the most expensive delegated branches, with their path and the runs below`,
    ],
  },
  {
    name: "a session that began before the asked time is left out of costs",
    rows: ["S5.12h"],
    file: `${queries}/costs.ts`,
    find: "first_at < ? AND last_at >= ?",
    replace: "first_at < ? AND last_at < ? AND 0",
    tests: [`${sumsTest} > give the same reports as their runs, at any time and for any grouping`],
  },
  {
    name: "the stored sums of a session stay while it works again",
    rows: ["S5.12h"],
    file: "packages/recorder/src/record/session-costs.ts",
    find: "    set.run(0, null, null, null, null, id);\n",
    replace: "",
    tests: [`${sumsTest} > are dropped while a run is open, and stored again at its end`],
  },
];
