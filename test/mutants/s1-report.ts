import type { Mutant } from "./mutant.ts";

/** Breaks each proven part of the flow of a report: rows S1.3b to S1.18d. */
export const mutants: readonly Mutant[] = [
  {
    name: "the prompt of the report expert has no date",
    rows: ["S1.3b"],
    file: "packages/roles/src/render-prompt.ts",
    find: "`Date: ${new Date(facts.now).toISOString().slice(0, 10)}`,",
    replace: "",
    tests: [
      "packages/roles/src/render-prompt.test.ts > the prompt of the shipped report expert has the date and the session's folder",
    ],
  },
  {
    name: "the prompt of the report expert has another folder",
    rows: ["S1.3b"],
    file: "packages/roles/src/render-prompt.ts",
    find: "return [`CURRENT_SESSION_WORKSPACE: ${session}`,",
    replace: 'return ["CURRENT_SESSION_WORKSPACE: .",',
    tests: [
      "packages/roles/src/render-prompt.test.ts > the prompt of the shipped report expert has the date and the session's folder",
    ],
  },
  {
    name: "an in-depth text is no report",
    rows: ["S1.4"],
    file: "packages/roles/agents/main.md",
    find: "detailed, in-depth, analysis",
    replace: "detailed, analysis",
    tests: [
      "packages/roles/src/shipped-agents.test.ts > a report from the web > main has to delegate it, after a search, and checks its corpus",
    ],
  },
  {
    name: "the expert is asked before the search",
    rows: ["S1.4"],
    file: "packages/core/src/machines/agent/triggers.ts",
    find: "  if (trigger?.agent !== agent) return null;",
    replace: '  if (trigger?.agent !== "") return null;',
    tests: [
      "packages/core/src/machines/agent/triggers.test.ts > a run that has to delegate > may not delegate before it has searched",
    ],
  },
  {
    name: "the main agent does not check reports",
    rows: ["S1.5"],
    file: "packages/roles/agents/main.md",
    find: "- name: report-corpus",
    replace: "- name: claims-have-calls",
    tests: [
      "packages/roles/src/shipped-agents.test.ts > a report from the web > main has to delegate it, after a search, and checks its corpus",
    ],
  },
  {
    name: "a report needs no search",
    rows: ["S1.5"],
    file: "packages/roles/agents/main.md",
    find: "after: [web_search]",
    replace: "after: []",
    tests: [
      "packages/roles/src/shipped-agents.test.ts > a report from the web > main has to delegate it, after a search, and checks its corpus",
    ],
  },
  {
    name: "the report expert cannot upload",
    rows: ["S1.6a"],
    file: "packages/roles/agents/report-creation-expert.md",
    find: "workbench_download, workbench_upload, webReader]",
    replace: "workbench_download, webReader]",
    tests: [
      "packages/roles/src/shipped-agents.test.ts > report-creation-expert has its tools, and writes in its folders",
    ],
  },
  {
    name: "the report expert has a model of its own",
    rows: ["S1.6a"],
    file: "packages/roles/agents/report-creation-expert.md",
    find: "model: inherit",
    replace: "model: haiku",
    tests: [
      "packages/roles/src/shipped-agents.test.ts > report-creation-expert has its tools, and writes in its folders",
    ],
  },
  {
    name: "a report need not wait for its corpus",
    rows: ["S1.11"],
    file: "packages/roles/agents/report-creation-expert.md",
    find: "      params: {before: [work_products]}\n",
    replace: "",
    tests: [
      "packages/roles/src/shipped-agents.test.ts > a report from the web > is checked for its corpus, its citations and its form",
    ],
  },
  {
    name: "a report need not be a file",
    rows: ["S1.11"],
    file: "packages/runtime/src/verifiers/report-form.ts",
    find: "  if (path === undefined) return [`there is no HTML file of this run in ${folder}/`];",
    replace: "  if (path === undefined) return [];",
    tests: ["packages/runtime/src/verifiers/report-form.test.ts > report-form > names no file"],
  },
  {
    name: "the answer need not have the report",
    rows: ["S1.11"],
    file: "packages/runtime/src/verifiers/report-form.ts",
    find: 'hasAnswer ? [] : ["the answer does not have the HTML of the report"]',
    replace: "[]",
    tests: ["packages/runtime/src/verifiers/report-form.test.ts > report-form > names an answer without the HTML"],
  },
  {
    name: "the form of a report is not checked",
    rows: ["S1.12"],
    file: "packages/roles/agents/report-creation-expert.md",
    find: "    - name: report-form\n",
    replace: "",
    tests: [
      "packages/roles/src/shipped-agents.test.ts > a report from the web > is checked for its corpus, its citations and its form",
    ],
  },
  {
    name: "a report may ignore its sources",
    rows: ["S1.12"],
    file: "packages/runtime/src/verifiers/report-form.ts",
    find: "count < needed ?",
    replace: "count < 0 ?",
    tests: ["packages/runtime/src/verifiers/report-form.test.ts > report-form > names too few sources"],
  },
  {
    name: "every check concerns every result",
    rows: ["S1.15a"],
    file: "packages/core/src/machines/agent/child-checks.ts",
    find: "return words.length === 0 || words.some((word) => text.includes(word.toLowerCase()));",
    replace: "return true;",
    tests: [
      "packages/core/src/machines/agent/child-checks.test.ts > the result of a child > without the words is not checked",
    ],
  },
  {
    name: "the check of one agent concerns all",
    rows: ["S1.15a"],
    file: "packages/core/src/machines/agent/child-checks.ts",
    find: "if (agent !== null && agent !== result.agent) return false;",
    replace: "",
    tests: [
      "packages/core/src/machines/agent/child-checks.test.ts > the result of a child > of another agent is not checked",
    ],
  },
  {
    name: "the user does not learn of a mended result",
    rows: ["S1.15b"],
    file: "packages/core/src/machines/agent/response.ts",
    find: "    ...checkWarnings(context, outcome),\n",
    replace: "",
    tests: [
      "packages/core/src/machines/agent/child-checks.test.ts > a check that did not hold > is repeated with the answer, which holds if the parent has mended it",
    ],
  },
  {
    name: "the message about a missing corpus has no prefix",
    rows: ["S1.15b"],
    file: "packages/core/src/machines/agent/child-checks.ts",
    find: 'export const compliancePrefix = "COMPLIANCE ERROR: ";',
    replace: 'export const compliancePrefix = "NOTE: ";',
    tests: [
      "packages/core/src/machines/agent/child-checks.test.ts > the result of a child > that does not hold puts a COMPLIANCE ERROR behind the result",
    ],
  },
  {
    name: "a failed check does not name its missing file",
    rows: ["S1.16"],
    file: "packages/core/src/protocol/trace-event.ts",
    find: "missingFile === null ? {} : { missing_file: missingFile }",
    replace: "missingFile === null ? {} : {}",
    tests: [
      "test/delegation/child-checks.test.ts > with one host > a missing file puts a COMPLIANCE ERROR into the conversation; the parent supplies the file and completes",
    ],
  },
  {
    name: "an injected message leaves no event",
    rows: ["S1.16"],
    file: "packages/runtime/src/host/effects/check-children.ts",
    find: "failed.length > 0 ? [complianceMessageInjected",
    replace: "failed.length > 9 ? [complianceMessageInjected",
    tests: [
      "test/delegation/child-checks.test.ts > with one host > a missing file puts a COMPLIANCE ERROR into the conversation; the parent supplies the file and completes",
    ],
  },
  {
    name: "the crawl has no sequence diagram",
    rows: ["S1.18d"],
    file: "docs/report-team.md",
    find: "sequenceDiagram\n  participant Expert as report expert\n  participant Crawl as",
    replace: "flowchart\n  participant Expert as report expert\n  participant Crawl as",
    tests: [
      "test/e2e/report-team.test.ts > four sequence diagrams show the delegation, the crawl, the corpus with the synthesis, and the check",
    ],
  },
  {
    name: "the diagram of the check has no failure",
    rows: ["S1.18d"],
    file: "docs/report-team.md",
    find: "    Check-->>Parent: COMPLIANCE ERROR, with the missing file\n",
    replace: "",
    tests: [
      "test/e2e/report-team.test.ts > four sequence diagrams show the delegation, the crawl, the corpus with the synthesis, and the check",
    ],
  },
];
