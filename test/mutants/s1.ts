import type { Mutant } from "./mutant.ts";

const parseAgent = "packages/roles/src/parse-agent.ts";
const toolList = "packages/roles/src/tool-list.ts";
const wildTest = "packages/roles/src/wild-files.test.ts";
const parseTest = "packages/roles/src/parse-agent.test.ts";
const sourceTest = "packages/roles/src/agent-source.test.ts";
const modelNames = "packages/models/src/model-names.ts";
const modelNamesTest = "packages/models/src/model-names.test.ts";
const grant = "packages/core/src/permissions/grant.ts";
const toolNames = "packages/core/src/permissions/tool-names.ts";
const toolNamesTest = "packages/core/src/permissions/tool-names.test.ts";
const runSpec = "packages/runtime/src/host/claim/run-spec.ts";
const runSpecTest = "packages/runtime/src/host/claim/run-spec.test.ts";
const renderPrompt = "packages/roles/src/render-prompt.ts";
const renderTest = "packages/roles/src/render-prompt.test.ts";
const workbench = "packages/tools/src/memory/workbench.ts";
const workbenchTools = "packages/tools/src/memory/workbench-tools.ts";
const workbenchTest = "test/tools/workbench.test.ts > the workbench";
const sessionFilesTest = "test/e2e/session-files.test.ts > files of a session";
const sessionFileRoutes = "packages/runtime/src/http/session-file-routes.ts";
const sessionFileRoutesTest = "packages/runtime/src/http/session-file-routes.test.ts > the routes of a session's files";
const respondTest = "packages/core/src/machines/agent/respond.test.ts";
const systemPrompt =
  "test/delegation/context.test.ts > with one host > the system prompt of every model call has the role, the date and the folder of the session";
const remainingTime =
  "test/delegation/pains-limits.test.ts > with one host > pain 7: a child gets at most its parent's remaining time and budget";

/** Breaks each proven part of the rows S1.1 to S1.18. */
const childChecks = "packages/core/src/machines/agent/child-checks.test.ts";

export const mutants: readonly Mutant[] = [
  {
    name: "an agent needs no description",
    rows: ["S1.1a"],
    file: parseAgent,
    find: 'if (description === null && !fields.has("description")) reportMissing("description", parts.yamlOffset, report);',
    replace: "",
    tests: [`${parseTest} > an invalid file gets an error with its place > no description`],
  },
  {
    name: "an agent needs no prompt",
    rows: ["S1.1a"],
    file: parseAgent,
    find: 'if (prompt === "") {',
    replace: 'if (prompt === "none") {',
    tests: [`${parseTest} > an invalid file gets an error with its place > no prompt`],
  },
  {
    name: "a list of tools is not read",
    rows: ["S1.1b"],
    file: parseAgent,
    find: "tools: denied?.all ? [] : granted === null || granted.all ? null : itemsOf(granted),",
    replace: "tools: null,",
    tests: [`${parseTest} > a valid file > tools: Read, Write, Bash`],
  },
  {
    name: "a list of tools restricts nothing",
    rows: ["S1.1b", "S1.18a"],
    file: grant,
    find: "if (layer.tools !== null && !namesTool(layer.tools.map(toolOfItem), spec, names)) {",
    replace: "if (layer.tools?.length === 0) {",
    tests: [`${runSpecTest} > the grant > is the intersection of every layer and the definition`],
  },
  {
    name: "a pattern of commands grants the whole shell",
    rows: ["S1.1b"],
    file: toolList,
    find: "list.tools.push({ item: rule, written: item.text, offset: item.offset });",
    replace: "list.tools.push({ item: tool, written: item.text, offset: item.offset });",
    tests: [`${wildTest} > a restriction in parentheses`],
  },
  {
    name: "a restriction that nothing enforces is forgotten",
    rows: ["S1.1b"],
    file: toolList,
    find: 'if (mode === "deny") list.tools.push(',
    replace: "list.tools.push(",
    tests: [`${wildTest} > a restriction in parentheses`],
  },
  {
    name: "a folder of one tool is the folder of no tool",
    rows: ["S1.1b"],
    file: "packages/roles/src/write-restrictions.ts",
    find: "return [...new Set(folders.map(({ folder }) => folder))];",
    replace: "return own;",
    tests: [`${wildTest} > a restriction in parentheses`],
  },
  {
    name: "reading a list grants writing notes",
    rows: ["S1.1b"],
    file: toolNames,
    find: '["TodoRead", { tool: "notes", isNarrower: true,',
    replace: '["TodoRead", { tool: "notes",',
    tests: [`${wildTest} > a list of tools means our tools`],
  },
  {
    name: "an agent that names no model does not inherit one",
    rows: ["S1.1c"],
    file: parseAgent,
    find: 'const model = readText("model", fields, report) ?? "inherit";',
    replace: 'const model = readText("model", fields, report) ?? "sonnet";',
    tests: [
      `${parseTest} > a valid file > without optional keys has the defaults of the schema and no caps of its own`,
    ],
  },
  {
    name: "every size is the largest model",
    rows: ["S1.1c"],
    file: modelNames,
    find: "const model = provider == null ? undefined : tiers[provider]?.[tier];",
    replace: "const model = provider == null ? undefined : (tiers[provider]?.opus ?? tiers[provider]?.[tier]);",
    tests: [`${modelNamesTest} > a session's model > size is anthropic/claude-haiku-4-5`],
  },
  {
    name: "inherit is not the parent's model",
    rows: ["S1.1c"],
    file: modelNames,
    find: 'if (wanted === "inherit") return { id: inherited, warning: null };',
    replace: 'if (wanted === "inherit") return { id: "anthropic/claude-sonnet-5", warning: null };',
    tests: [`${modelNamesTest} > an agent's model > inherit below openai/gpt-6-sol is openai/gpt-6-sol`],
  },
  {
    name: "agents in .claude/agents are not found",
    rows: ["S1.2a"],
    file: "packages/roles/src/agent-source.ts",
    find: '{ path: join(workspace, ".claude", "agents"), origin: "claude", within: workspace },',
    replace: "",
    tests: [
      `${sourceTest} > the agents of a registry > an agent is found by its name, with the prompt of its file in .claude/agents`,
    ],
  },
  {
    name: "the prompt of a file is its description",
    rows: ["S1.2a"],
    file: parseAgent,
    find: "const definition = { ...identity, description, prompt, model,",
    replace: "const definition = { ...identity, description, prompt: description, model,",
    tests: [
      `${sourceTest} > the agents of a registry > an agent is found by its name, with the prompt of its file in .claude/agents`,
    ],
  },
  {
    name: "Task grants no delegation",
    rows: ["S1.2b"],
    file: toolList,
    find: "if (Token.safeParse(id).success) list.targets.push({ id, offset: item.offset });",
    replace: "if (Token.safeParse(id).success) list.hasEntries = true;",
    tests: [`${parseTest} > a valid file > tools: Agent(b), Task(c, d), read`],
  },
  {
    name: "Task without names grants no delegation",
    rows: ["S1.2b"],
    file: parseAgent,
    find: 'targets.push({ id: "*", offset });',
    replace: "",
    tests: [`${wildTest} > Task without names`],
  },
  {
    name: "work goes to an agent without a usable tool",
    rows: ["S1.2b"],
    file: grant,
    find: "return lack === null ? null : { by: id, reason: `not usable: ${lack}` };",
    replace: 'return lack === "" ? { by: id, reason: lack } : null;',
    tests: [`${wildTest} > an unknown tool is named, with its place`],
  },
  {
    name: "an agent delegates although its tools deny Task",
    rows: ["S1.2b"],
    file: grant,
    find: "if (layer.denyTools.some(namesDelegate)) return { by: layer.from, reason: `${describe(layer)} denies delegating` };",
    replace: "",
    tests: ["packages/core/src/permissions/grant.test.ts > an explanation"],
  },
  {
    name: "an agent without a grant of delegation has the tool",
    rows: ["S1.2b"],
    file: runSpec,
    find: "tools: targets.length > 0 ? [...tools, ...delegationSpecs(agentList, listingInTool(agentList, prompt))] : tools,",
    replace: "tools: [...tools, ...delegationSpecs(agentList, listingInTool(agentList, prompt))],",
    tests: [`${runSpecTest} > the grant > has no disabled agent, and no delegation without agents`],
  },
  {
    name: "a prompt has no date",
    rows: ["S1.3a"],
    file: renderPrompt,
    find: "`Date: ${new Date(facts.now).toISOString().slice(0, 10)}`,",
    replace: "",
    tests: [systemPrompt, `${renderTest} > the prompt of the root > is its own, then the date and the workspace`],
  },
  {
    name: "a prompt has the date of another day",
    rows: ["S1.3a"],
    file: runSpec,
    find: "now: clock.now() };",
    replace: "now: 0 * clock.now() };",
    tests: [systemPrompt],
  },
  {
    name: "a prompt does not name the session's folder",
    rows: ["S1.3a"],
    file: renderPrompt,
    find: "return [`CURRENT_SESSION_WORKSPACE: ${session}`,",
    replace: "return [`Folder: ${session}`,",
    tests: [systemPrompt, `${renderTest} > the prompt of the root > is its own, then the date and the workspace`],
  },
  {
    name: "the full name of the crawl is unknown",
    rows: ["S1.6b"],
    file: toolNames,
    find: 'local_toolkit: ["crawl_parallel", "save_corpus", "write_local_file",',
    replace: 'local_toolkit: ["save_corpus", "write_local_file",',
    tests: [`${toolNamesTest} > a name > mcp__local_toolkit__crawl_parallel means crawl_parallel`],
  },
  {
    name: "the full name of the page reader is unknown",
    rows: ["S1.6b"],
    file: toolNames,
    find: 'web_reader: ["webReader"],',
    replace: "web_reader: [],",
    tests: [`${toolNamesTest} > a name > mcp__web_reader__webReader means webReader`],
  },
  {
    name: "a crawl reads only its url",
    rows: ["S1.6c"],
    file: "packages/tools/src/report/crawl-parallel.ts",
    find: "return [...(url === undefined ? [] : [url]), ...urls];",
    replace: "return url === undefined ? [] : [url];",
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > crawl_parallel > takes a list of urls, and keeps images if asked",
    ],
  },
  {
    name: "a crawl reads only its list of urls",
    rows: ["S1.6c"],
    file: "packages/tools/src/report/crawl-parallel.ts",
    find: "return [...(url === undefined ? [] : [url]), ...urls];",
    replace: "return url === undefined ? urls : [];",
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > crawl_parallel > takes one url, and saves its article without images as Markdown with its facts",
    ],
  },
  {
    name: "every article of a corpus counts as successful",
    rows: ["S1.7"],
    file: "packages/tools/src/report/corpus.ts",
    find: "const successful = articles.filter(isSuccessful).length;",
    replace: "const successful = articles.length;",
    tests: [
      "packages/tools/src/report/corpus-tools.test.ts > save_corpus > saves the given articles, and returns where and how many",
    ],
  },
  {
    name: "the result of save_corpus has no path",
    rows: ["S1.7"],
    file: "packages/tools/src/report/corpus-tools.ts",
    find: "corpus_path: real, articles_saved",
    replace: 'corpus_path: "", articles_saved',
    tests: [
      "packages/tools/src/report/corpus-tools.test.ts > save_corpus > saves the given articles, and returns where and how many",
    ],
  },
  {
    name: "crawled articles keep their images",
    rows: ["S1.8a"],
    file: "packages/tools/src/report/crawl-parallel.ts",
    find: "images: this.#args.retain_images,",
    replace: "images: true,",
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > crawl_parallel > takes one url, and saves its article without images as Markdown with its facts",
    ],
  },
  {
    name: "a crawl does not report how many pages it crawled",
    rows: ["S1.8a"],
    file: "packages/tools/src/report/crawl-parallel.ts",
    find: "`crawled ${crawled}/${pages.length} pages;",
    replace: "`done;",
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > crawl_parallel > takes one url, and saves its article without images as Markdown with its facts",
    ],
  },
  {
    name: "a crawl has three batches",
    rows: ["S1.10"],
    file: "packages/tools/src/report/crawl-limits.ts",
    find: "batchesMax: 2,",
    replace: "batchesMax: 3,",
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > a crawl of twelve pages > stops after two batches of five, abandons pages that hang, and retries those alone",
    ],
  },
  {
    name: "the pages of a second batch do not wait for the first",
    rows: ["S1.10"],
    file: "packages/tools/src/report/crawl-schedule.ts",
    find: "return this.#fetching === 0 || this.#nextBatch === this.#batch;",
    replace: "return true;",
    tests: [
      "packages/tools/src/report/crawl-schedule.property.test.ts > no run exceeds 5 pages at once, 10 pages, 10 successes, or one retry of a page that timed out",
    ],
  },
  {
    name: "a crawl waits a minute for its pages",
    rows: ["S1.10"],
    file: "packages/tools/src/report/crawl-limits.ts",
    find: "batchMs: 20_000,",
    replace: "batchMs: 60_000,",
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > a crawl of twelve pages > stops after two batches of five, abandons pages that hang, and retries those alone",
    ],
  },
  {
    name: "a page that timed out is not tried again",
    rows: ["S1.13"],
    file: "packages/tools/src/report/crawl-schedule.ts",
    find: 'if (page.status === "1234" && !job.signal.aborted) this.#retries.push(job);',
    replace: 'if (page.status === "unreadable") this.#retries.push(job);',
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > a crawl of twelve pages > stops after two batches of five, abandons pages that hang, and retries those alone",
    ],
  },
  {
    name: "a missing page is tried again",
    rows: ["S1.13"],
    file: "packages/tools/src/report/page-failure.ts",
    find: 'if (status === 404 || status === 410) return { kind: "1214", message };',
    replace: 'if (status === 404 || status === 410) return { kind: "1234", message };',
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > a crawl of twelve pages > stops after two batches of five, abandons pages that hang, and retries those alone",
    ],
  },
  {
    name: "five pages are retried at once",
    rows: ["S1.13"],
    file: "packages/tools/src/report/crawl-limits.ts",
    find: "retriesAtOnce: 2,",
    replace: "retriesAtOnce: 5,",
    tests: [
      "packages/tools/src/report/crawl-schedule.property.test.ts > no run exceeds 5 pages at once, 10 pages, 10 successes, or one retry of a page that timed out",
    ],
  },
  {
    name: "a domain is blacklisted after two missing pages",
    rows: ["S1.14"],
    file: "packages/tools/src/report/domain-blacklist.ts",
    find: "const failuresMax = 3;",
    replace: "const failuresMax = 2;",
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > a domain > is not blacklisted by timeouts, nor by two missing pages",
    ],
  },
  {
    name: "timeouts blacklist a domain",
    rows: ["S1.14"],
    file: "packages/tools/src/report/crawl-parallel.ts",
    find: 'if (kind === "1214") {',
    replace: 'if (kind === "1214" || kind === "1234") {',
    tests: [
      "packages/tools/src/report/crawl-parallel.test.ts > a domain > is not blacklisted by timeouts, nor by two missing pages",
    ],
  },
  {
    name: "write_local_file does not say how much it wrote",
    rows: ["S1.8b"],
    file: "packages/tools/src/files/write.ts",
    find: `      requests: ({ path, content }) => [{ path, make: () => Buffer.from(content) }],
      summarize: ({ content }, [file]) => \`Successfully wrote \${content.length} chars to \${file?.shown}\`,`,
    replace: `      requests: ({ path, content }) => [{ path, make: () => Buffer.from(content) }],
      summarize: (_, [file]) => \`wrote \${file?.shown}\`,`,
    tests: ["packages/tools/src/files/write.test.ts > write_local_file is another name for it"],
  },
  {
    name: "write_local_file writes nothing",
    rows: ["S1.8b"],
    file: "packages/tools/src/files/write.ts",
    find: "requests: ({ path, content }) => [{ path, make: () => Buffer.from(content) }],",
    replace: 'requests: ({ path }) => [{ path, make: () => Buffer.from("") }],',
    tests: ["packages/tools/src/files/write.test.ts > write_local_file is another name for it"],
  },
  {
    name: "an upload reads bytes as text",
    rows: ["S1.9a"],
    file: workbenchTools,
    find: "const { ref } = await workbench.put(remote_path, bytes, context, session_id);",
    replace:
      'const { ref } = await workbench.put(remote_path, Buffer.from(bytes.toString("utf8")), context, session_id);',
    tests: [`${workbenchTest} > carries a child's file to its parent, byte for byte, also into another workspace`],
  },
  {
    name: "a download reads bytes as text",
    rows: ["S1.9a"],
    file: workbenchTools,
    find: "await writeNewFile(local_path, Buffer.from(bytes), context);",
    replace: 'await writeNewFile(local_path, Buffer.from(Buffer.from(bytes).toString("utf8")), context);',
    tests: [`${workbenchTest} > carries a child's file to its parent, byte for byte, also into another workspace`],
  },
  {
    name: "a file of another workspace can be downloaded",
    rows: ["S1.9b"],
    file: workbench,
    find: "session === context.session || uploaded.workspace === workspace;",
    replace: "session === context.session || uploaded.workspace !== null;",
    tests: [`${workbenchTest} > of another session is read if it is named and belongs to the same workspace`],
  },
  {
    name: "a session writes to the workbench of another one",
    rows: ["S1.9b"],
    file: workbench,
    find: "if (session !== context.session) {",
    replace: 'if (session === "") {',
    tests: [`${workbenchTest} > is written by the runs of its own session alone`],
  },
  {
    name: "an upload sends bytes as text",
    rows: ["S1.9c"],
    file: "packages/runtime/src/http/session-file-content.ts",
    find: 'content: Buffer.from(bytes).toString("base64"), sha256',
    replace: 'content: Buffer.from(bytes).toString("latin1"), sha256',
    tests: [`${sessionFilesTest} > travel as base64 with their digest, and arrive byte for byte`],
  },
  {
    name: "the daemon stores the base64 of an upload",
    rows: ["S1.9c"],
    file: sessionFileRoutes,
    find: 'const bytes = Buffer.from(content, "base64");',
    replace: "const bytes = Buffer.from(content);",
    tests: [`${sessionFileRoutesTest} > list, store and return files, whose bytes are base64`],
  },
  {
    name: "any text counts as base64",
    rows: ["S1.9c"],
    file: sessionFileRoutes,
    find: 'if (bytes.toString("base64") !== content) {',
    replace: 'if (content === "none") {',
    tests: [`${sessionFileRoutesTest} > refuse content that is not base64: a line break`],
  },
  {
    name: "the digest of an upload is not compared",
    rows: ["S1.9c"],
    file: sessionFileRoutes,
    find: "if (sha256 === undefined || sha256 === found) return bytes;",
    replace: "if (sha256 !== found || sha256 === found) return bytes;",
    tests: [`${sessionFileRoutesTest} > refuse an invalid upload: another digest`],
  },
  {
    name: "the upload of a person gets into another workbench",
    rows: ["S1.9c"],
    file: "packages/tools/src/memory/session-files.ts",
    find: "const uploaded = await store.put({ session, name,",
    replace: 'const uploaded = await store.put({ session: "people", name,',
    tests: [`${sessionFilesTest} > reach the runs of the session and come back, also after a kill of the daemon`],
  },
  {
    name: "a declared check finds every file",
    rows: ["S1.15d"],
    file: "packages/runtime/src/verifiers/verifier.ts",
    find: "return paths.filter((_, i) => !exist[i])",
    replace: "return paths.filter((_, i) => exist.length < i)",
    tests: [
      "packages/runtime/src/verifiers/verifier.test.ts > files-exist names each missing file, and ignores claims of the answer",
    ],
  },
  {
    name: "a failed check is not put before the model",
    rows: ["S1.15d", "S1.18c"],
    file: "packages/core/src/machines/agent/setup/ending.ts",
    find: "const verifyRoundsMax = 2;",
    replace: "const verifyRoundsMax = 0;",
    tests: [
      `${respondTest} > verifiers > fail: the model gets the failure, corrects the answer, and the check runs again`,
    ],
  },
  {
    name: "a failed check does not fail the run",
    rows: ["S1.15e", "S1.18c"],
    file: "packages/core/src/machines/agent/outcomes.ts",
    find: 'permanentError("verification", failures.join("; "))',
    replace: 'permanentError("tool_error", failures.join("; "))',
    tests: [`${respondTest} > verifiers > with no turn left, a failure is final`],
  },
  {
    name: "a child may outlive its parent",
    rows: ["S1.17a"],
    file: "packages/core/src/machines/agent/clock.ts",
    find: "return Math.min(pin.limits.maxDurationMs, request.remainingMs ?? Number.POSITIVE_INFINITY);",
    replace: "return pin.limits.maxDurationMs + 0 * (request.remainingMs ?? 0);",
    tests: [remainingTime],
  },
  {
    name: "a parent leaves its child all the time that it has",
    rows: ["S1.17a"],
    file: "packages/core/src/machines/agent/clock.ts",
    find: "const answerReserveMs = 1_000;",
    replace: "const answerReserveMs = 0;",
    tests: [remainingTime],
  },
  {
    name: "every agent has the same instructions",
    rows: ["S1.18b"],
    file: renderPrompt,
    find: "return parentPromptOf(definition, request) ?? definition.prompt;",
    replace: 'return parentPromptOf(definition, request) ?? "You are an agent.";',
    tests: [systemPrompt],
  },
  {
    name: "an open check of a child's result does not hold the answer back",
    rows: ["S1.15c"],
    file: "packages/core/src/machines/agent/setup/ending.ts",
    find: "outputSchemaOf(context) !== null || openChecks(context).length > 0),",
    replace: "outputSchemaOf(context) !== null),",
    tests: [`${childChecks} > a check that did not hold > is the reason of the end if no turn is left to mend it`],
  },
  {
    name: "a cap hides the failed check of a child's result",
    rows: ["S1.15c"],
    file: "packages/core/src/machines/agent/outcomes.ts",
    find: "  if (failures.length === 0) return bailedOutOutcome(reason);",
    replace: "  if (failures.length >= 0) return bailedOutOutcome(reason);",
    tests: [
      `${childChecks} > a check that did not hold > is the reason of the end if a cap is met in the middle of the work`,
    ],
  },
  {
    name: "only completed results of children are checked",
    rows: ["S1.17b"],
    file: "packages/core/src/machines/agent/child-checks.ts",
    find: '  if (status === "rejected" || status === "cancelled") return [];',
    replace: '  if (status !== "completed") return [];',
    tests: [`${childChecks} > the result of a child > of a hanging child is checked too`],
  },
  {
    name: "the message about a failed check is not given to the model",
    rows: ["S1.17b"],
    file: "packages/core/src/machines/agent/child-checks.ts",
    find: "    message: failed.length > 0 ? complianceMessage(failed) : null,",
    replace: "    message: failed.length > 99 ? complianceMessage(failed) : null,",
    tests: [`${childChecks} > the result of a child > that does not hold puts a COMPLIANCE ERROR behind the result`],
  },
];
