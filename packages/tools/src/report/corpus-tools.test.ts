/** The corpus of a report: saved articles are read back whole, and no report is written before. */
import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { serve } from "../http-client/servers.fixture.ts";
import { workspaceTest } from "../workspace.fixture.ts";
import { reportRun, reportSite } from "./report.fixture.ts";

const test = workspaceTest.extend<{ run: ReturnType<typeof reportRun> }>({
  run: async ({ context, folder }, use) => {
    await using server = await serve(reportSite().respond);
    await use(reportRun(server, context, { memoryFolder: `${folder}-memory`, sites: ["a.example", "b.example"] }));
  },
});

const articles = [
  { url: "https://a.example/1", title: "One", content: "The river rose.", status: "success" },
  { url: "https://b.example/2", title: "", content: "", status: "failed: 1214" },
];
const pages = { urls: ["http://a.example/article-1", "http://b.example/gone"] };
const report = { path: "work_products/report.html", content: "<html></html>" };
const corpusFirst = { corpusFirst: ["work_products"] };

describe("save_corpus", () => {
  test("saves the given articles, and returns where and how many", async ({ run, folder }) => {
    const { output, error, filesCreated } = await run.call("save_corpus", { articles, workspace_path: folder });
    expect(error).toBeNull();
    expect(JSON.parse(output)).toEqual({
      success: true,
      corpus_path: "expanded_corpus.json",
      articles_saved: 2,
      successful: 1,
    });
    expect(filesCreated).toEqual(["expanded_corpus.json"]);
    const { extraction_timestamp, ...corpus } = JSON.parse(
      await readFile(join(folder, "expanded_corpus.json"), "utf8"),
    );
    expect(Date.parse(extraction_timestamp)).toBeGreaterThan(0);
    expect(corpus).toEqual({ total_articles: 2, successful: 1, failed: 1, articles });
  });

  test("saves the pages of the crawl by reference, the failed ones too", async ({ run, folder }) => {
    await run.call("crawl_parallel", pages);
    const { output } = await run.call("save_corpus", { from: "search_results" });
    expect(JSON.parse(output)).toMatchObject({ success: true, articles_saved: 2, successful: 1 });
    const corpus = JSON.parse(await readFile(join(folder, "expanded_corpus.json"), "utf8"));
    expect(corpus.articles).toEqual([
      {
        url: pages.urls[0],
        title: "Article article-1",
        content: expect.stringContaining("The river rose"),
        status: "success",
      },
      { url: pages.urls[1], title: "", content: "", status: "failed: 1214 status 404" },
    ]);
  });

  test("replaces an earlier corpus, also a damaged one, and no other file", async ({ run, folder }) => {
    await run.call("save_corpus", { articles });
    await truncate(join(folder, "expanded_corpus.json"), 40);
    expect((await run.call("save_corpus", { articles: articles.slice(0, 1) })).filesModified).toEqual([
      "expanded_corpus.json",
    ]);
    await writeFile(join(folder, "expanded_corpus.json"), '{"mine":true}');
    const { error } = await run.call("save_corpus", { articles });
    expect(error).toMatchObject({ type: "params", message: expect.stringContaining("a file with other content") });
    expect(await readFile(join(folder, "expanded_corpus.json"), "utf8")).toBe('{"mine":true}');
  });

  test.for([
    [{}, "give either articles"],
    [{ articles, from: "search_results" }, "give either articles"],
    [{ from: "search_results" }, "this run has crawled no page"],
    [{ articles: [{ url: "x" }] }, "the arguments of save_corpus are invalid"],
    [{ articles, workspace_path: "/tmp" }, "not a path in the workspace"],
  ] as const)("refuses %j", async ([args, message], { run }) => {
    const { error } = await run.call("save_corpus", args);
    expect(error?.message).toContain(message);
  });

  test("says which page of the crawl has lost its file", async ({ run, folder }) => {
    const { filesCreated } = await run.call("crawl_parallel", pages);
    await writeFile(join(folder, filesCreated[0] ?? ""), "something else");
    await run.call("save_corpus", { from: "search_results" });
    const { output } = await run.call("read_corpus", {});
    expect(output).toContain("0 successful, 2 failed");
    expect(output).toContain("is missing or damaged");
  });
});

describe("read_corpus", () => {
  test("shows all articles, or one of them in parts, as text of strangers", async ({ run }) => {
    await run.call("save_corpus", { articles });
    const all = await run.call("read_corpus", {});
    expect(all.output).toMatch(/^expanded_corpus\.json: 2 articles, 1 successful, 1 failed/);
    expect(all.output).toContain("The river rose.");
    expect(all.taint?.untrusted).toEqual(["a.example", "b.example"]);
    const part = await run.call("read_corpus", { article: 1, from: 4, length: 5 });
    expect(part.output).toContain("\n\nriver\n[characters 4 to 9 of 15; continue with from: 9]");
    expect((await run.call("read_corpus", { article: 3 })).error?.message).toContain("there is no article 3");
  });

  test("reports a corpus that was cut off, or that does not add up", async ({ run, folder }) => {
    expect((await run.call("read_corpus", {})).error?.message).toContain("is not a file");
    await run.call("save_corpus", { articles });
    const file = join(folder, "expanded_corpus.json");
    const whole = await readFile(file, "utf8");
    await truncate(file, 100);
    expect((await run.call("read_corpus", {})).error?.message).toMatch(
      /is damaged: it is not JSON \(100 bytes\).*Call save_corpus again/,
    );
    await writeFile(file, whole.replace('"total_articles": 2', '"total_articles": 3'));
    expect((await run.call("read_corpus", {})).error?.message).toContain(
      "it names 3 articles (1 successful, 1 failed) and has 2",
    );
  });
});

describe("the report of an agent that declares the order", () => {
  const write = (run: ReturnType<typeof reportRun>, path = report.path) =>
    run.call("write_local_file", { ...report, path }, corpusFirst);

  test("is refused after a crawl, until the corpus is saved and read back", async ({ run, folder }) => {
    expect((await write(run, "work_products/before.html")).error).toBeNull();
    await run.call("crawl_parallel", pages);
    expect((await write(run)).error).toMatchObject({
      type: "permission",
      message: expect.stringContaining("call save_corpus, then read_corpus"),
    });
    await run.call("save_corpus", { from: "search_results" });
    expect((await write(run)).error?.message).toContain("has not read it back: call read_corpus");
    await truncate(join(folder, "expanded_corpus.json"), 100);
    await run.call("read_corpus", {});
    await run.call("read", { path: "expanded_corpus.json" });
    expect((await write(run)).error?.message).toContain("has not read it back");
    await run.call("save_corpus", { from: "search_results" });
    await run.call("read_corpus", {});
    expect((await write(run)).error).toBeNull();
    await run.call("crawl_parallel", { url: "http://a.example/article-2" });
    expect((await write(run, "work_products/second.html")).error?.message).toContain("call save_corpus");
  });

  test("may follow the plain read of the saved file, too", async ({ run }) => {
    await run.call("crawl_parallel", pages);
    await run.call("save_corpus", { from: "search_results" });
    await run.call("read", { path: "expanded_corpus.json" });
    expect((await write(run)).error).toBeNull();
  });

  test("is the only file that waits, and agents without the order write at once", async ({ run }) => {
    await run.call("crawl_parallel", pages);
    expect((await write(run, "notes/draft.md")).error).toBeNull();
    expect((await run.call("write_local_file", report)).error).toBeNull();
  });
});
