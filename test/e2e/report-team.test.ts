/**
 * A request for a report on its whole way, in real processes: search, mandatory delegation, crawl, corpus, report, checks.
 * The pages, the search service and the model are servers of the test.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { RunResponse } from "@troupe/core";
import { shippedAgentsFolder } from "@troupe/roles";
import { describe, it, type TestContext } from "vitest";
import { z } from "zod";
import { troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

type Test = Pick<TestContext, "onTestFinished">;

async function serve(respond: RequestListener, test: Test): Promise<string> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const sentence = "In May 2024 the river rose by 2.4 metres, and “the bridge was gone in the morning”, said the mayor. ";

/** Each page has a port of its own, because pages of one host and port are fetched one after the other. */
const answers: Record<string, RequestListener> = {
  article: (request, response) => {
    const title = `Flood ${request.url}`;
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>${title}</title><article><h1>${title}</h1><p>${sentence.repeat(12)}</p></article>`);
  },
  gone: (_request, response) => void response.writeHead(404).end("gone"),
  hang: () => {},
  garbage: (_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(Buffer.from("\x89PNG\r\n\x1a\n\0\0\xff", "latin1"));
  },
  loop: (request, response) => void response.writeHead(302, { location: request.url ?? "/" }).end(),
};

/** The first ten are fetched: four articles, two hanging pages, two missing ones, garbage, and a circle of redirects. */
const kinds = [
  ...["article", "article", "hang", "article", "hang"],
  ...["gone", "garbage", "loop", "gone", "article"],
  ...["article", "article"],
];

interface Page {
  url: string;
  kind: string;
  requests: number;
}

async function startSite(test: Test): Promise<Page[]> {
  const start = async (kind: string, i: number): Promise<Page> => {
    const page: Page = { url: "", kind, requests: 0 };
    const base = await serve((request, response) => {
      if (request.url !== "/robots.txt") page.requests += 1;
      answers[kind]?.(request, response);
    }, test);
    page.url = `${base}/${kind}-${i}`;
    return page;
  };
  return await Promise.all(kinds.map(start));
}

function startSearch(pages: readonly Page[], test: Test): Promise<string> {
  const results = pages.map(({ url, kind }) => ({ url, title: `Page ${kind}`, content: "About the flood" }));
  return serve((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results }));
  }, test);
}

function reportOn(urls: readonly string[]): string {
  const sources = urls.map((url, i) => `<li><a href="${url}">Source ${i + 1}</a></li>`).join("");
  return `<!doctype html><html><head><title>Flood</title><style>body { font-family: serif }</style></head><body>
<h1>The flood</h1>
<section id="executive-summary"><h2>Executive summary</h2><p>The river rose by 2.4 metres in May 2024.</p></section>
<section id="water"><h2>The water</h2><p>It rose by 2.4 metres (<a href="${urls[0]}">Flood</a>).</p></section>
<section id="bridge"><h2>The bridge</h2><p>“The bridge was gone in the morning” (<a href="${urls[1]}">Mayor</a>).</p></section>
<section id="contradictions"><h2>Contradictions</h2><p>None was found.</p></section>
<section id="sources"><h2>Sources</h2><ul>${sources}</ul></section></body></html>`;
}

const reportPath = "work_products/flood.html";
const expert = "report-creation-expert";

/** The steps after the corpus is saved. */
function writing(html: string) {
  return [
    { calls: [{ tool: "read_corpus", args: {} }] },
    { calls: [{ tool: "mcp__local_toolkit__write_local_file", args: { path: reportPath, content: html } }] },
    { calls: [{ tool: "workbench_upload", args: { local_path: reportPath, remote_path: "flood.html" } }] },
    {
      text: `## Summary\n\nThe report is in ${reportPath}.\n\n## Details\n\n${html}\n\n## Warnings\n\n- two pages hang`,
    },
  ];
}

async function createFixture(test: Test, { agents, pages }: { agents: Agents; pages: readonly Page[] }) {
  // The prompt of a sub-agent has its id: that of the default team, or of the team `report`.
  const scripts = agents[expert] === undefined ? {} : { [`report_${expert}`]: agents[expert] };
  const model = await startModelServer({ scenario: { agents: { ...agents, ...scripts } } });
  test.onTestFinished(() => model.close());
  const home = await tempFolder("report-team", test);
  const workspace = await tempFolder("report", test);
  const hosts = pages.map(({ url }) => new URL(url).host);
  await writeFile(path.join(home, "policy.yaml"), `web: {privateHosts: ${JSON.stringify(hosts)}}\n`);
  const env = {
    OPENAI_BASE_URL: model.openaiUrl,
    TROUPE_MODEL: "openai/llama3.2",
    SEARXNG_URL: await startSearch(pages, test),
  };
  return { model, home, workspace, env };
}

/** Main searches, delegates, and answers. The expert works on all pages. */
function wholeWay(pages: readonly Page[]): Agents {
  const urls = pages.map(({ url }) => url);
  const read = pages.slice(0, 10).flatMap(({ kind, url }) => (kind === "article" ? [url] : []));
  const html = reportOn(read);
  const delegation = { agent: expert, task: `Write the report on the flood.\n${urls.join("\n")}` };
  return {
    main: [
      {
        steps: [
          // Without a search, the delegation is refused.
          { calls: [{ tool: "Task", args: delegation }] },
          { calls: [{ tool: "web_search", args: { query: "flood" } }] },
          { calls: [{ tool: "Task", args: delegation }] },
          { text: `The river rose by 2.4 metres. The whole report: ${reportPath}` },
        ],
      },
    ],
    [expert]: [
      {
        steps: [
          { calls: [{ tool: "mcp__local_toolkit__crawl_parallel", args: { urls } }] },
          { calls: [{ tool: "write_local_file", args: { path: reportPath, content: html } }] },
          { calls: [{ tool: "mcp__local_toolkit__save_corpus", args: { from: "search_results" } }] },
          ...writing(html),
        ],
      },
    ],
  };
}

const request = "Write a comprehensive report on the flood";

/** Everything that the journal says about the calls and checks of a run. */
function storyOf(home: string, agent: string) {
  const journals = [...readJournalFile(path.join(home, "journal.db")).values()];
  const own = journals.map((entries) => entries.map(({ entry }) => entry));
  const entries = own.find(([first]) => first?.kind === "run.opened" && first.request.agent === agent) ?? [];
  return {
    entries,
    calls: entries.flatMap((entry) =>
      entry.kind === "tool.finished" ? [`${entry.tool} ${entry.outcome.error?.type ?? "ok"}`] : [],
    ),
    events: entries.flatMap((entry) => ("events" in entry ? (entry.events ?? []) : [])),
  };
}

async function filesIn(workspace: string, folder: string): Promise<string[]> {
  return await readdir(path.join(workspace, folder)).catch(() => []);
}

interface Outcome {
  expect: TestContext["expect"];
  home: string;
  workspace: string;
  pages: readonly Page[];
  response: RunResponse;
  team?: string;
}

/** The message about a missing file in a request to the model. Null if it has none. */
function messageIn({ body }: { body: unknown }): string | null {
  const messages = z.object({ messages: z.array(z.object({ content: z.unknown() })) }).safeParse(body).data?.messages;
  const texts = (messages ?? []).flatMap(({ content }) => (typeof content === "string" ? [content] : []));
  return texts.find((text) => text.startsWith("COMPLIANCE ERROR: ")) ?? null;
}

/** Opens the corpus, the report and the trace. */
async function expectReport({ expect, home, workspace, pages, response, team = "" }: Outcome): Promise<void> {
  expect(response).toMatchObject({ status: "completed", error: null });
  expect(response.details).toContain(reportPath);

  const corpus = JSON.parse(await readFile(path.join(workspace, "expanded_corpus.json"), "utf8"));
  const fetched = pages.slice(0, 10);
  expect(corpus).toMatchObject({ total_articles: 10, successful: 4, failed: 6 });
  expect(Date.parse(corpus.extraction_timestamp)).toBeGreaterThan(0);
  const statuses: Record<string, RegExp> = {
    article: /^success$/,
    hang: /^failed: 1234 /,
    gone: /^failed: 1214 /,
    garbage: /^failed: /,
    loop: /^failed: /,
  };
  const articles = new Map<string, { status: string; content: string }>(
    corpus.articles.map((article: { url: string; status: string; content: string }) => [article.url, article]),
  );
  for (const { url, kind } of fetched) {
    expect(articles.get(url)?.status).toMatch(statuses[kind] ?? /never/);
    expect(articles.get(url)?.content.includes("2.4 metres") ?? false).toBe(kind === "article");
  }
  const requests = (kind: string) => fetched.filter((page) => page.kind === kind).map((page) => page.requests);
  expect(requests("hang")).toEqual([2, 2]);
  expect(requests("gone")).toEqual([1, 1]);
  expect(pages.slice(10).map((page) => page.requests)).toEqual([0, 0]);

  const html = await readFile(path.join(workspace, reportPath), "utf8");
  expect(html.indexOf('id="executive-summary"')).toBeLessThan(html.indexOf('id="water"'));
  const cited = [...html.matchAll(/href="([^"]+)"/g)].map(([, url]) => url ?? "");
  expect(cited.every((url) => articles.get(url)?.status === "success")).toBe(true);

  const names = await filesIn(workspace, "search_results");
  expect(names.filter((name) => name.endsWith(".md"))).toHaveLength(4);
  // Observers work beside the run, so they may end after it.
  await until(async () => (await filesIn(workspace, "search_results")).some((name) => name.startsWith("web_search")));
  await until(async () => (await filesIn(workspace, "workbench_activity")).length === 1);

  const prefix = team === "" ? "" : `${team}_`;
  const work = storyOf(home, `${prefix}${expert}`);
  expect(work.calls).toEqual([
    "crawl_parallel ok",
    "write_local_file permission",
    "save_corpus ok",
    "read_corpus ok",
    "write_local_file ok",
    "workbench_upload ok",
  ]);
  const [opened] = work.entries;
  expect(opened?.kind === "run.opened" && opened.pin.grant.tools.toSorted()).toEqual([
    ...["crawl_parallel", "read_corpus", "save_corpus", "webReader"],
    ...["workbench_download", "workbench_upload", "write_local_file"],
  ]);
  const prompt = opened?.kind === "run.opened" ? opened.pin.prompt : "";
  expect(prompt).toContain(`CURRENT_SESSION_WORKSPACE: ${workspace}`);
  expect(prompt).toMatch(/^Date: \d{4}-\d\d-\d\d$/m);
  expect(opened?.kind === "run.opened" && opened.pin.model).toBe("openai/llama3.2");
  const settled = work.entries.at(-1);
  expect(settled?.kind === "run.settled" && settled.response).toMatchObject({
    status: "completed",
    summary: `The report is in ${reportPath}.`,
    details: expect.stringContaining(html),
    warnings: ["two pages hang"],
    artifacts: [{ name: "flood.html" }],
  });

  const lead = storyOf(home, `${prefix}main`);
  const first = lead.entries[0];
  expect(first?.kind === "run.opened" && first.pin.prompt).toContain(
    `so **${prefix}${expert}** has to do this work. Your own answer is refused until it has.`,
  );
  expect(lead.events).toMatchObject([
    { name: "subagent_compliance_verified", fields: { child_agent: `${prefix}${expert}`, verifier: "report-corpus" } },
  ]);
}

it("four sequence diagrams show the delegation, the crawl, the corpus with the synthesis, and the check", async ({
  expect,
}) => {
  const page = await readFile(path.join(import.meta.dirname, "../../docs/report-team.md"), "utf8");
  const diagrams = page.split(/^## /m).flatMap((section) => {
    const [, diagram] = /```mermaid\nsequenceDiagram\n([\s\S]*?)```/.exec(section) ?? [];
    return diagram === undefined ? [] : [`${section.split("\n", 1)[0]}\n${diagram}`];
  });
  expect(diagrams).toMatchObject([
    expect.stringMatching(/^Delegation\n[\s\S]*web_search[\s\S]*Main->>Expert[\s\S]*Expert-->>Main[\s\S]*check/),
    expect.stringMatching(/^Parallel crawl\n[\s\S]*crawl_parallel[\s\S]*par [\s\S]*once more, two at a time/),
    expect.stringMatching(
      /^Corpus and synthesis\n[\s\S]*expanded_corpus\.json[\s\S]*read it back[\s\S]*themes[\s\S]*work_products/,
    ),
    expect.stringMatching(/^Check\n[\s\S]*subagent_compliance_verified[\s\S]*COMPLIANCE ERROR/),
  ]);
});

describe.concurrent("a request for a report", () => {
  it("goes its whole way without choosing a team", async (test) => {
    const { expect } = test;
    const pages = await startSite(test);
    const { home, workspace, env, model } = await createFixture(test, { agents: wholeWay(pages), pages });
    const { code, stdout, stderr } = await troupe(["run", request, "--json"], { home, env, cwd: workspace });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    await expectReport({ expect, home, workspace, pages, response: JSON.parse(stdout) });
    expect(JSON.stringify(model.calls()[1]?.body)).toContain("first call web_search");
  });

  it("goes the same way with the team report, and after a kill in the middle of its crawl", async (test) => {
    const { expect } = test;
    const pages = await startSite(test);
    const { home, workspace, env } = await createFixture(test, { agents: wholeWay(pages), pages });
    const daemon = await startDaemon({ home, test, env });
    const { session } = await daemon.client.submit({ task: request, team: "report", workspace, origin: "api" });
    // Articles of the first batch are saved, and two pages hang.
    await until(async () => (await filesIn(workspace, "search_results")).some((name) => name.endsWith(".md")));
    await daemon.kill();
    const again = await startDaemonInProcess({ home, test, env, flags: ["--port", new URL(daemon.url).port] });
    const response = await responseOf(again, session);
    await expectReport({ expect, home, workspace, pages, response, team: "report" });
  });

  it("whose corpus is missing gets a COMPLIANCE ERROR, the user is told, and the second attempt completes", async (test) => {
    const { expect } = test;
    const pages = (await startSite(test)).slice(0, 2);
    const urls = pages.map(({ url }) => url);
    const html = reportOn(urls);
    const articles = urls.map((url) => ({ url, title: "Flood", content: sentence, status: "success" }));
    const agents: Agents = {
      main: [
        {
          steps: [
            { calls: [{ tool: "web_search", args: { query: "flood" } }] },
            { calls: [{ tool: "Task", args: { agent: expert, task: "the report, first attempt" } }] },
            { calls: [{ tool: "Task", args: { agent: expert, task: "the report again, with its corpus" } }] },
            { text: `The report is in ${reportPath}` },
          ],
        },
      ],
      [expert]: [
        { when: { task: "first attempt" }, steps: [{ text: html, repeat: true }] },
        { steps: [{ calls: [{ tool: "save_corpus", args: { articles } }] }, ...writing(html)] },
      ],
    };
    const { home, workspace, env, model } = await createFixture(test, { agents, pages });
    const { code, stdout, stderr } = await troupe(["run", request, "--json"], { home, env, cwd: workspace });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const response: RunResponse = JSON.parse(stdout);
    expect(response.warnings).toContainEqual(
      expect.stringMatching(
        /^a result did not hold: report-creation-expert: .*no expanded_corpus\.json.*; it was mended$/,
      ),
    );
    const message = model
      .calls()
      .map(messageIn)
      .find((text) => text !== null);
    expect(message?.split("COMPLIANCE ERROR")).toHaveLength(2);
    expect(storyOf(home, "main").events).toMatchObject([
      { name: "subagent_compliance_failed", level: "warn", fields: { missing_file: "expanded_corpus.json" } },
      { name: "subagent_compliance_message_injected", fields: { error: message?.slice(0, 200) } },
      { name: "subagent_compliance_verified" },
    ]);
  });

  it("whose expert hangs fails with the missing file, and the user is told", async (test) => {
    const { expect } = test;
    const pages = (await startSite(test)).slice(0, 1);
    const agents: Agents = {
      main: [
        {
          steps: [
            { calls: [{ tool: "web_search", args: { query: "flood" } }] },
            { calls: [{ tool: "Task", args: { agent: expert, task: "the report" } }] },
            { text: "The expert did not answer, so there is no report.", repeat: true },
          ],
        },
      ],
      [expert]: [{ steps: [{ text: "late", latencyMs: 3_600_000 }] }],
    };
    const { home, workspace, env } = await createFixture(test, { agents, pages });
    const shipped = await readFile(path.join(shippedAgentsFolder, `${expert}.md`), "utf8");
    await mkdir(path.join(home, "agents"), { recursive: true });
    const impatient = shipped.replace(/maxDurationMs: \d+/, "maxDurationMs: 2000");
    await writeFile(path.join(home, "agents", `${expert}.md`), impatient);
    const { code, stdout } = await troupe(["run", request, "--json"], { home, env, cwd: workspace });
    expect(code).not.toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "failed",
      error: { type: "verification", message: expect.stringContaining("there is no expanded_corpus.json") },
      warnings: expect.arrayContaining([expect.stringMatching(/^a result did not hold: .*no expanded_corpus\.json/)]),
    });
    expect(storyOf(home, expert).entries.at(-1)).toMatchObject({ response: { status: "timeout" } });
  });
});
