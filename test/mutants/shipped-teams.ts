import type { Mutant } from "./mutant.ts";

const teams = "packages/roles/teams";
const shipped = "packages/roles/src/shipped-teams.test.ts";
const atWork = "test/delegation/shipped-teams.test.ts > with one host";
const models = "packages/troupe/src/models/open-models.test.ts > an agent's model";
const imported = "packages/roles/src/import-settings.test.ts";
const command = "packages/cli/src/commands/import-team.test.ts";
const pipeline = `${atWork} > pipeline: researches, plans and executes, with a reviewer of the executor's own and one of the tester's`;
const importer = "packages/roles/src/import-settings.ts";
const holds = `${imported} > an imported configuration > is a team in which its depth, its defaults and each setting of a role hold`;

/** Breaks the promises of the shipped teams and of imported ones. */
export const mutants: readonly Mutant[] = [
  {
    name: "the executor cannot commit",
    rows: ["S2.4"],
    file: `${teams}/pipeline/executor.md`,
    find: "git_diff, git_commit, recall]",
    replace: "git_diff, recall]",
    tests: [`${shipped} > pipeline_executor has its tools, and writes in its folders`],
  },
  {
    name: "the executor may make more calls",
    rows: ["S2.4"],
    file: `${teams}/pipeline/executor.md`,
    find: "maxToolCalls: 30",
    replace: "maxToolCalls: 300",
    tests: [`${shipped} > pipeline_executor has its caps`],
  },
  {
    name: "the executor may read more",
    rows: ["S2.4"],
    file: `${teams}/pipeline/executor.md`,
    find: "maxContextTokens: 20000",
    replace: "maxContextTokens: 80000",
    tests: [`${shipped} > pipeline_executor has its caps`],
  },
  {
    name: "the executor has no reviewer",
    rows: ["S2.4"],
    file: `${teams}/pipeline/executor.md`,
    find: "  allow: [reviewer]",
    replace: "  allow: []",
    tests: [pipeline],
  },
  {
    name: "the tester of the pipeline has no reviewer",
    rows: ["S2.6d"],
    file: `${teams}/pipeline/tester.md`,
    find: "  allow: [reviewer]",
    replace: "  allow: []",
    tests: [pipeline, `${shipped} > delegations > of pipeline_tester go to the agents of its own team that it needs`],
  },
  {
    name: "the reviewer of a tester sees no difference",
    rows: ["S2.6d"],
    file: `${teams}/pipeline/tester.md`,
    find: "test, git_diff, shell",
    replace: "test, shell",
    tests: [
      "test/tools/shipped-roles.test.ts > a shipped role > pipeline_tester → pipeline_reviewer: the child loses no tool that it needs to the limits of its parent",
    ],
  },
  {
    name: "the executor does not know its plan",
    rows: ["S2.7c"],
    file: `${teams}/pipeline/executor.md`,
    find: "Follow the plan in your task.",
    replace: "Do the task.",
    tests: [`${shipped} > each agent of the pipeline has a prompt of its own > executor knows its duties`],
  },
  {
    name: "the executor commits in one piece",
    rows: ["S2.7c"],
    file: `${teams}/pipeline/executor.md`,
    find: "make each commit one small, complete unit that builds,",
    replace: "commit everything at the end,",
    tests: [`${shipped} > each agent of the pipeline has a prompt of its own > executor knows its duties`],
  },
  {
    name: "an imported depth is lost",
    rows: ["S5.2"],
    file: importer,
    find: "  maxDepth: ${roles.MaxDepth}\n",
    replace: "",
    tests: [holds],
  },
  {
    name: "an imported role has the default iterations",
    rows: ["S5.2"],
    file: importer,
    find: "...(MaxIterations === undefined ? [] : [`    maxIterations: ${MaxIterations}`]),",
    replace: "",
    tests: [holds],
  },
  {
    name: "an imported role may delegate although CanDelegate is not true",
    rows: ["S5.2"],
    file: "packages/roles/src/settings-file.ts",
    find: "return CanDelegate ? AllowedDelegations : [];",
    replace: "return CanDelegate || AllowedDelegations.length > 0 ? AllowedDelegations : [];",
    tests: [`${imported} > an imported configuration > lets only roles with CanDelegate delegate`],
  },
  {
    name: "an imported prompt can be any file of the machine",
    rows: ["S5.2"],
    file: "packages/cli/src/commands/import-team.ts",
    find: "if (!real.startsWith(`${await realpath(base)}${sep}`)) throw outside(place, shown, base);",
    replace: "",
    tests: [
      `${command} > a bad import writes nothing and says why: > a prompt file above the folder`,
      `${command} > a bad import writes nothing and says why: > a link that leads out of the folder`,
    ],
  },
  {
    name: "an imported name can end its line",
    rows: ["S5.2"],
    file: importer,
    find: 'JSON.stringify(text.replace(/\\s+/g, " ").trim());',
    replace: "text;",
    tests: [
      `${imported} > an imported configuration > cannot smuggle keys into an agent file: each text stays one value`,
    ],
  },
  {
    name: "the coder of the coding team has more iterations",
    rows: ["S5.3"],
    file: `${teams}/coding/coder.md`,
    find: "maxIterations: 30",
    replace: "maxIterations: 50",
    tests: [`${shipped} > coding_coder has its caps`],
  },
  {
    name: "the planner of the coding team does not delegate",
    rows: ["S5.3"],
    file: "packages/roles/agents/planner.md",
    find: "  allow: [coder, tester, reviewer]",
    replace: "  allow: []",
    tests: [`${shipped} > delegations > of coding_planner go to the agents of its own team that it needs`],
  },
  {
    name: "the coding team shows another model for its planner",
    rows: ["S5.3"],
    file: `${teams}/coding/team.yaml`,
    find: "deepseek/deepseek-reasoner",
    replace: "deepseek/deepseek-chat",
    tests: [`${models} > of the coding team can be set as the comment of its team.yaml shows`],
  },
  {
    name: "the coding team's main agent does not know when to ask the debugger",
    rows: ["S5.10a"],
    file: `${teams}/coding/main.md`,
    find: "a failing test, an error at run time, or slow code, when",
    replace: "use it when",
    tests: [`${shipped} > the main agent of the coding team reads > when to ask the debugger`],
  },
  {
    name: "the coding team's main agent delegates the smallest change",
    rows: ["S5.10b"],
    file: `${teams}/coding/main.md`,
    find: "Do the work yourself if it is a simple question, a change in one file, or less than five minutes of work.",
    replace: "",
    tests: [`${shipped} > the main agent of the coding team reads > when to ask no agent`],
  },
  {
    name: "the coding team's main agent trusts results",
    rows: ["S5.10c"],
    file: `${teams}/coding/main.md`,
    find: "A result is a claim. Check it before you continue:",
    replace: "Results are right:",
    tests: [`${shipped} > the main agent of the coding team reads > that it checks results`],
  },
  {
    name: "the research coordinator asks one specialist after the other",
    rows: ["S3.14a"],
    file: `${teams}/research/coordinator.md`,
    find: "max_concurrent: 3",
    replace: "max_concurrent: 1",
    tests: [`${atWork} > research: the coordinator asks three specialists at once; the time is that of the slowest`],
  },
  {
    name: "the reporters of a data pipeline are missing",
    rows: ["S3.14c"],
    file: `${teams}/data-pipeline/coordinator.md`,
    find: "  allow: [fetcher, transformer, reporter]",
    replace: "  allow: [fetcher, transformer]",
    tests: [`${atWork} > data-pipeline: fetches in parallel, then transforms, then reports in parallel`],
  },
  {
    name: "the review team has no linter",
    rows: ["S3.14b"],
    file: `${teams}/review/code-reviewer.md`,
    find: "  allow: [security-auditor, linter, test-coverage]",
    replace: "  allow: [security-auditor, test-coverage]",
    tests: [`${atWork} > review: combines the parts, each with the change as context, though one of them fails`],
  },
];
