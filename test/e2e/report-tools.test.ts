/**
 * A daemon that is killed in the middle of a crawl: the next one keeps the caps of the run, and the run saves its corpus
 * before its report. Observers work beside it.
 */
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, it, type TestContext } from "vitest";
import { readJournalFile } from "../harness/journal-file.ts";
import { startKillableScriptedDaemon } from "../harness/scripted-daemon.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";

/** A page on a port of its own: other pages of one host and port would wait for it. A late one hangs at the first request. */
async function startPage(title: string, { isLate }: { isLate: boolean }, test: Pick<TestContext, "onTestFinished">) {
  const page = { url: "", requests: 0 };
  const server = createServer((_request, response) => {
    page.requests += 1;
    if (isLate && page.requests === 1) return;
    response.writeHead(200, { "content-type": "text/html" });
    response.end(
      `<title>${title}</title><article><h1>${title}</h1><p>${`The river of ${title} rose. `.repeat(30)}</p></article>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  page.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${title}`;
  return page;
}

const reporter = `---
name: reporter
description: Writes a report
tools: crawl_parallel, save_corpus, read_corpus, write_local_file, webReader, workbench_upload
troupe:
  verifiers: [{name: report-corpus, params: {before: [work_products]}}]
  observers: [{name: save-workbench-activity}, {name: enrich-corpus}]
---
You write reports.
`;

it("a kill in the middle of a crawl breaks no cap, and the report waits for its corpus", async (test) => {
  const titles = [
    "one",
    "late-two",
    "three",
    "late-four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
  ];
  const pages = await Promise.all(titles.map((title) => startPage(title, { isLate: title.startsWith("late") }, test)));
  const extra = await startPage("extra", { isLate: false }, test);
  const write = { tool: "write_local_file", args: { path: "work_products/report.html", content: "<h1>Report</h1>" } };
  const steps = [
    { calls: [{ tool: "mcp__local_toolkit__crawl_parallel", args: { urls: pages.map(({ url }) => url) } }] },
    { calls: [write] },
    { calls: [{ tool: "mcp__local_toolkit__save_corpus", args: { from: "search_results" } }] },
    { calls: [{ tool: "read_corpus", args: {} }] },
    { calls: [{ tool: "webReader", args: { url: extra.url } }] },
    { calls: [write] },
    {
      calls: [
        { tool: "workbench_upload", args: { local_path: "work_products/report.html", remote_path: "report.html" } },
      ],
    },
    { text: "the report is in work_products/report.html" },
  ];
  const hosts = [...pages, extra].map(({ url }) => new URL(url).host);
  const daemon = await startKillableScriptedDaemon({
    test,
    agents: { reporter: [{ steps }] },
    files: { "agents/reporter.md": reporter, "policy.yaml": `web: {privateHosts: ${JSON.stringify(hosts)}}\n` },
  });
  const workspace = await tempFolder("report", test);
  const { session } = await daemon.client.submit({
    task: "write a report",
    agent: "reporter",
    workspace,
    origin: "api",
  });

  // The first batch is under way: some of its pages are saved, and two hang.
  await expect.poll(() => pages.map(({ requests }) => requests).slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
  await expect.poll(async () => (await namesIn(workspace, "search_results")).length).toBeGreaterThan(0);
  await daemon.kill();

  const again = await daemon.startAgain();
  const response = await responseOf(again, session);
  expect(response).toMatchObject({ status: "completed", details: "the report is in work_products/report.html" });
  // Ten pages, each at most twice. How many of them were in time depends
  // on the machine; the caps do not.
  const requests = pages.map((page) => page.requests);
  expect(requests.slice(0, 10).every((count) => count === 1 || count === 2)).toBe(true);
  expect(requests.slice(10)).toEqual([0, 0]);
  const entries = readJournalFile(path.join(daemon.home, "journal.db")).get(response.runId) ?? [];
  const outcomes = entries.flatMap(({ entry }) => (entry.kind === "tool.finished" ? [entry] : []));
  expect(outcomes.map(({ tool, outcome }) => [tool, outcome.error?.type ?? null])).toEqual([
    ["crawl_parallel", null],
    ["write_local_file", "permission"],
    ["save_corpus", null],
    ["read_corpus", null],
    ["webReader", null],
    ["write_local_file", null],
    ["workbench_upload", null],
  ]);
  expect(outcomes[0]?.outcome.output).toMatch(
    /^crawled \d+\/12 pages; this run: \d+ of at most 10 successes, 2 of 2 batches/,
  );
  // The observers work beside the run, so they may end after it.
  const urlsInCorpus = async () => {
    const corpus = JSON.parse(await readFile(path.join(workspace, "expanded_corpus.json"), "utf8"));
    return corpus.articles.map(({ url }: { url: string }) => url);
  };
  await expect.poll(urlsInCorpus).toEqual([...pages.slice(0, 10), extra].map(({ url }) => url));
  await expect.poll(() => namesIn(workspace, "workbench_activity", ".json")).toHaveLength(1);
});

async function namesIn(workspace: string, folder: string, end = ".md"): Promise<string[]> {
  const names = await readdir(path.join(workspace, folder)).catch(() => []);
  return names.filter((name) => name.endsWith(end));
}
