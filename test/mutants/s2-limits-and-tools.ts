import type { Mutant } from "./mutant.ts";

const planBatch = "packages/core/src/machines/agent/plan-batch.ts";
const runSpec = "packages/runtime/src/host/claim/run-spec.ts";
const runSpecTest = "packages/runtime/src/host/claim/run-spec.test.ts";
const hostTest = "packages/runtime/src/host/actor-host.test.ts > a host";
const composeResponse = "packages/core/src/machines/agent/response.ts";
const respondTest = "packages/core/src/machines/agent/respond.test.ts";
const kernelAttacks = "packages/tools/src/sandbox/kernel-attacks.test.ts";
const etcFolder = "packages/tools/src/sandbox/mount-plan/etc-folder.test.ts";
const delegateTest = "packages/core/src/machines/agent/delegate.test.ts";

/** Breaks the promises of S2.15 to S2.18: security, performance and tools around a run. */
export const mutants: readonly Mutant[] = [
  {
    name: "a response has no summary",
    rows: ["S2.17f"],
    file: composeResponse,
    find: 'outcome.status === "completed" ? ofPlan || sections.summary || details : (outcome.error?.message ?? details),',
    replace: '"",',
    tests: ["test/e2e/examples.test.ts > 03-team runs"],
  },
  {
    name: "the sandbox says that it contains, and does not",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/create-sandbox.ts",
    find: "return { kind, contains: true, network: options.policy.network, detail, fix, run };",
    replace: "return { kind, contains: true, network: false, detail, fix, run: createProcessGroupRun(options) };",
    tests: [
      "packages/tools/src/sandbox/escape-attempts.test.ts > bubblewrap: a command cannot read > files beside its workspace",
    ],
  },
  {
    name: "bubblewrap gets no filter of system calls",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/backends/bubblewrap.ts",
    find: 'const filter = guard.filter ? ["--seccomp", String(firstPassedDescriptor + descriptors.length)] : [];',
    replace: "const filter: string[] = [];",
    tests: [`${kernelAttacks} > bubblewrap: the kernel refuses a command when > it makes a call of an attack`],
  },
  {
    name: "the launcher of namespaces loads no filter",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/system-calls/kernel-guard.ts",
    find: "    steps.filter(filter),\n",
    replace: "",
    tests: [`${kernelAttacks} > namespaces: the kernel refuses a command when > it makes a call of an attack`],
  },
  {
    name: "the filter allows a rare family of sockets",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/system-calls/call-table.ts",
    find: "in: [families.inet, families.inet6] }",
    replace: "in: [families.inet, families.inet6, 40] }",
    tests: [`${kernelAttacks} > namespaces: the kernel refuses a command when > it makes a call of an attack`],
  },
  {
    name: "a command keeps the session keyring of the host",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/system-calls/kernel-guard.ts",
    find: "    steps.newKeyring(),\n",
    replace: "",
    tests: [
      `${kernelAttacks} > bubblewrap: a command cannot find the keys of this process, and neither could it without the filter`,
    ],
  },
  {
    name: "a command sees a setting of the machine that can have a token",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/mount-plan/etc-table.ts",
    find: 'paths: ["passwd", "group"]',
    replace: 'paths: ["passwd", "group", "npmrc"]',
    tests: [`${etcFolder} > bubblewrap: commands see only the listed settings of the machine`],
  },
  {
    name: "the view of the machine's folders is planned once",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/mount-plan/file-view.ts",
    find: "isCurrent: () => answers.every(",
    replace: "isCurrent: () => answers.length > 0 || answers.every(",
    tests: [`${etcFolder} > bubblewrap: a setting that becomes private is not visible to the next command`],
  },
  {
    name: "a command runs by an outdated plan that was found outdated before",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/backends/run-in-namespaces.ts",
    find: "const isMachineCurrent = used.isCurrent();",
    replace: "const isMachineCurrent = machine !== used || used.isCurrent();",
    tests: [
      `${etcFolder} > bubblewrap: a setting that becomes private is not visible to commands that start together`,
      `${etcFolder} > namespaces: a setting that becomes private is not visible to commands that start together`,
    ],
  },
  {
    name: "a command sees a secret that came after the last command",
    rows: ["SEC.1d"],
    file: "packages/tools/src/sandbox/backends/run-in-namespaces.ts",
    find: "isDeepStrictEqual(secretsNow, secrets)",
    replace: "secretsNow.length + secrets.length >= 0",
    tests: [
      "packages/tools/src/sandbox/home-workspace.test.ts > bubblewrap: in a home > a folder that becomes a home between two commands shows no secret to the next ones",
    ],
  },
  {
    name: "a machine without a sandbox says that it contains commands",
    rows: ["S2.15a"],
    file: "packages/tools/src/sandbox/create-sandbox.ts",
    find: '    kind: "process-group",\n    contains: false,',
    replace: '    kind: "process-group",\n    contains: true,',
    tests: [
      "packages/tools/src/sandbox/create-sandbox.test.ts > process-group is found, and reports whether it contains commands",
    ],
  },
  {
    name: "a command without a sandbox is of medium risk",
    rows: ["S2.15a"],
    file: "packages/tools/src/commands/command-risk.ts",
    find: 'return sandbox.contains ? "medium" : "high";',
    replace: 'return "medium";',
    tests: [
      "packages/tools/src/commands/command-risk.test.ts > a command without a containing sandbox is of high risk, and needs approval if the agent has write scopes",
    ],
  },
  {
    name: "a child has rights that its parent lacks",
    rows: ["S2.15e"],
    file: "packages/core/src/permissions/grant.ts",
    find: "return [...above, { ...ownLayer(parent), agents: null }];",
    replace: "return [...above, { ...ownLayer(parent), agents: null, tools: null }];",
    tests: [
      "packages/core/src/permissions/grant.test.ts > properties > a child never has a tool that its parent lacks, nor an agent that an ancestor denies, at any depth",
    ],
  },
  {
    name: "a call can loosen a child's limits",
    rows: ["S2.15e"],
    file: "packages/core/src/protocol/limits.ts",
    find: 'tightened[key] = typeof own === "number" ? Math.min(own, cap) : cap;',
    replace: "tightened[key] = own === undefined ? null : cap;",
    tests: ["packages/core/src/protocol/limits.test.ts > tighten > a higher cap does not"],
  },
  {
    name: "a call can loosen a child's depth and budget",
    rows: ["S2.15e"],
    file: "packages/core/src/budget/ledger.ts",
    find: "if (cap !== null) tightened[kind] = Math.min(tightened[kind] ?? cap, cap);",
    replace: "if (cap !== null) tightened[kind] = Math.max(tightened[kind] ?? cap, cap);",
    tests: [`${runSpecTest} > the budget is the request's, tightened by the definition's`],
  },
  {
    name: "a run takes 16 MB of memory",
    rows: ["S2.16a"],
    file: "packages/runtime/src/host/run/slots.ts",
    find: '  #state: "none" | "waiting" | "held" | "closed" = "held";',
    replace:
      '  #state: "none" | "waiting" | "held" | "closed" = "held";\n  readonly ballast = new Uint8Array(16 * 1024 * 1024);',
    tests: [`${hostTest} > needs less than 10 MB for a child at work`],
  },
  {
    name: "a child does not know for whom it works",
    rows: ["S2.16b"],
    file: planBatch,
    find: "userId: request.userId,",
    replace: "userId: null,",
    tests: [`${delegateTest} > a delegation > is one request with all fields of the child`],
  },
  {
    name: "a child's own settings are changed in its parent",
    rows: ["S2.16b"],
    file: planBatch,
    find: "return { ...limits, maxDepth: tighten(pin.limits, limits).maxDepth };",
    replace: "return Object.assign(pin.limits, limits);",
    tests: [`${delegateTest} > a delegation > is one request with all fields of the child`],
  },
  {
    name: "a process has no rate limits",
    rows: ["S2.16c"],
    file: "packages/troupe/src/models/open-models.ts",
    find: "return createReliableProvider({ provider: adapter, limits: provider.settings.limits, clock, random: Math.random });",
    replace: "return adapter;",
    tests: [
      "packages/troupe/src/models/open-models.test.ts > all agents of a process share the rate limits of a provider",
    ],
  },
  {
    name: "each run has rate limits of its own",
    rows: ["S2.16c"],
    file: "packages/models/src/resilience/rate-limiter.ts",
    find: "const runningMax = limits.concurrency ?? Number.POSITIVE_INFINITY;",
    replace: "const runningMax = Number.POSITIVE_INFINITY;",
    tests: [
      "packages/troupe/src/models/open-models.test.ts > all agents of a process share the rate limits of a provider",
    ],
  },
  {
    name: "the last turn before a deadline is not announced",
    rows: ["S2.16d"],
    file: "packages/core/src/machines/agent/clock.ts",
    find: "const lastTurnShare = 0.1;",
    replace: "const lastTurnShare = 0;",
    tests: [
      "packages/core/src/machines/agent/caps.test.ts > the deadline > with less than a tenth of the time left, the next turn is the last",
    ],
  },
  {
    name: "delegations do not count as tool calls",
    rows: ["S2.17a"],
    file: "packages/core/src/machines/agent/setup/tools.ts",
    find: 'const count = calls.filter(({ refusal }) => refusal?.type !== "budget").length;',
    replace: 'const count = calls.filter(({ refusal, plan }) => refusal?.type !== "budget" && plan === null).length;',
    tests: [
      `${respondTest} > the response > has its evidence from outcomes and children, and only its prose from the model`,
    ],
  },
  {
    name: "a sum over the tree leaves the children out",
    rows: ["S2.17b"],
    file: composeResponse,
    find: "subtree: addTotals(own, usage.children),",
    replace: "subtree: own,",
    tests: [
      "test/delegation/pains-limits.test.ts > with one host > pain 18: the usage of a run is its own and that of its descendants, to the token and the cent",
    ],
  },
  {
    name: "the log has nothing of children",
    rows: ["S2.17b"],
    file: "packages/runtime/src/host/run/run-events.ts",
    find: "const { session, run, agent } = this.#request;\n    this.#deps.logger.info",
    replace: "const { session, run, agent, depth } = this.#request;\n    if (depth === 0) this.#deps.logger.info",
    tests: [
      "test/e2e/logs.test.ts > the log > of a daemon has each run's start and end with both ids, and stdout has none of it",
    ],
  },
  {
    name: "a child cannot delegate",
    rows: ["S2.17c"],
    file: runSpec,
    find: "return depth < maxDepth ? agents.filter((id) => !chain.includes(id)) : [];",
    replace: "return depth === 0 ? agents.filter((id) => !chain.includes(id)) : [];",
    tests: [`${hostTest} > does not starve nested delegation when every slot is taken by a waiting parent`],
  },
  {
    name: "the terminal does not show the parent of a delegation",
    rows: ["S2.17e"],
    file: "packages/cli/src/render/progress.ts",
    find: 'const by = parent ? `${cleanLine(describeAgent(parent))} → ` : "→ ";',
    replace: 'const by = "";',
    tests: ["packages/cli/src/render/render.test.ts > progress > prints each start, delegation, file and end once"],
  },
  {
    name: "reads are never shared",
    rows: ["S2.18a"],
    file: "packages/troupe/src/process/tools.ts",
    find: "office.withTools(policy.cacheReads ? cacheReads({ host }) : host)",
    replace: "office.withTools(host)",
    tests: ["test/troupe/create-troupe.test.ts > a program > reads shared content once if its policy allows it"],
  },
  {
    name: "reads are always shared",
    rows: ["S2.18a"],
    file: "packages/troupe/src/process/tools.ts",
    find: "office.withTools(policy.cacheReads ? cacheReads({ host }) : host)",
    replace: "office.withTools(cacheReads({ host }))",
    tests: ["test/troupe/create-troupe.test.ts > a program > reads for each agent without such a policy"],
  },
  {
    name: "a cached read outlives a change",
    rows: ["S2.18a"],
    file: "packages/tools/src/cached-reads.ts",
    find: "      cache.outcomes.clear();\n",
    replace: "",
    tests: [
      "packages/tools/src/cached-reads.test.ts > a read is answered from memory > but not after a call that may have changed something",
    ],
  },
  {
    name: "events of children are not announced",
    rows: ["S2.18c"],
    file: "packages/runtime/src/host/run/run-events.ts",
    find: "    bus.publish(subjects.live(session, run), bytes);",
    replace: "    if (this.#request.depth === 0) bus.publish(subjects.live(session, run), bytes);",
    tests: [
      "test/delegation/pains-tree.test.ts > with one host > pain 19: every event names its run, and the record has each run's own history",
    ],
  },
  {
    name: "a branch may grow one level deeper",
    rows: ["S2.18d"],
    file: planBatch,
    find: "if (depth > maxDepth) {",
    replace: "if (depth > maxDepth + 1) {",
    tests: [`${delegateTest} > an invalid call gets an error at once > too deep`],
  },
  {
    name: "the tree in the terminal is a list",
    rows: ["S2.18e"],
    file: "packages/cli/src/render/tree.ts",
    find: "const parent = run.parentRun !== null && known.has(run.parentRun) ? run.parentRun : null;",
    replace: "const parent = known.size < 0 ? run.parentRun : null;",
    tests: [
      "packages/cli/src/render/render.test.ts > a session as a tree > shows branches, a glyph with a word, task, time and attempts, in the order of their start",
    ],
  },
];
