/** A crawl of real pages over sockets: its results, its caps over all calls of a run, its retries and its blacklist. */
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { serve } from "../http-client/servers.fixture.ts";
import { workspaceTest } from "../workspace.fixture.ts";
import { pagesIn } from "./crawled-page.ts";
import { parsePageFile } from "./page-file.ts";
import { reportRun, reportSite } from "./report.fixture.ts";

const hosts = Array.from({ length: 14 }, (_, i) => `site${i + 1}.example`);
const url = (host: number, path: string): string => `http://site${host}.example/${path}`;
/** Twelve pages, each of a host of its own. */
const articles = Array.from({ length: 12 }, (_, i) => url(i + 1, `article-${i + 1}`));

interface Crawl {
  site: ReturnType<typeof reportSite>;
  run: ReturnType<typeof reportRun>;
  /** The workspace. */
  folder: string;
  memoryFolder: string;
}

const test = workspaceTest.extend<Omit<Crawl, "folder">>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  site: async ({}, use) => use(reportSite()),
  memoryFolder: async ({ folder }, use) => use(`${folder}-memory`),
  run: async ({ site, context, memoryFolder }, use) => {
    await using server = await serve(site.respond);
    await use(reportRun(server, context, { memoryFolder, sites: hosts }));
  },
});

const statusesOf = (output: string): Record<string, string> =>
  Object.fromEntries(pagesIn(output).map((page) => [page.url, page.status]));

describe("crawl_parallel", () => {
  test("takes one url, and saves its article without images as Markdown with its facts", async ({ run, folder }) => {
    const { output, error, filesCreated, taint } = await run.call("crawl_parallel", { url: url(1, "article") });
    expect(error).toBeNull();
    expect(output).toMatch(/^crawled 1\/1 pages/);
    expect(filesCreated).toEqual(await filesIn(folder));
    expect(taint?.untrusted).toEqual(["site1.example"]);
    const text = await readFile(join(folder, filesCreated[0] ?? ""), "utf8");
    expect(parsePageFile(text)).toMatchObject({ url: url(1, "article"), title: "Article article", status: 200 });
    expect(Date.parse(parsePageFile(text)?.fetchedAt ?? "")).toBeGreaterThan(0);
    expect(text).toContain("The river rose by two metres");
    expect(text).not.toMatch(/bridge\.jpg|Sports|<p>/);
  });

  test("takes a list of urls, and keeps images if asked", async ({ run, folder }) => {
    const urls = articles.slice(0, 3);
    const { output } = await run.call("crawl_parallel", { urls, retain_images: true });
    expect(output).toMatch(/^crawled 3\/3 pages/);
    expect(pagesIn(output).map((page) => page.url)).toEqual(urls);
    for (const file of await filesIn(folder))
      expect(await readFile(join(folder, file), "utf8")).toContain("bridge.jpg");
  });

  test("saves into the folder of the session", async ({ run, folder }) => {
    for (const [i, session_dir] of ["session", join(folder, "session")].entries()) {
      const { error, filesCreated } = await run.call("crawl_parallel", { url: articles[i], session_dir });
      expect(error).toBeNull();
      expect(filesCreated[0]).toMatch(/^session\/search_results\/site\d\.example-article-\d-[0-9a-f]{8}\.md$/);
    }
  });

  test.for([
    [{}, "params", "give url or urls"],
    [{ urls: [] }, "params", "the arguments of crawl_parallel are invalid"],
    [{ url: "http://site1.example/article", session_dir: "../elsewhere" }, "permission", "not a path in the workspace"],
    [{ url: "http://site1.example/article", session_dir: ".git/hooks" }, "permission", "no agent may write it"],
  ] as const)("refuses %j", async ([args, type, message], { run, site }) => {
    const { error } = await run.call("crawl_parallel", args);
    expect(error).toMatchObject({ type, message: expect.stringContaining(message) });
    expect(site.countOf("site1.example/article")).toBe(0);
  });

  test("reaches no private address, and writes through no link out of the workspace", async ({ run, folder, site }) => {
    const { output } = await run.call("crawl_parallel", {
      urls: ["http://127.0.0.1:1/", "file:///etc/passwd", "nonsense"],
    });
    expect(output).toMatch(/^crawled 0\/3 pages/);
    expect(Object.values(statusesOf(output))).toEqual(["failed", "failed", "failed"]);
    await symlink("/tmp", join(folder, "search_results"));
    const { error } = await run.call("crawl_parallel", { url: articles[0] });
    expect(error).toMatchObject({ type: "permission" });
    expect(site.countOf("site1.example/article-1")).toBe(0);
  });

  test("leaves a file alone that a crawl did not write", async ({ run, folder }) => {
    const first = await run.call("crawl_parallel", { url: articles[0] });
    const file = join(folder, first.filesCreated[0] ?? "");
    await writeFile(file, "my own notes");
    await writeFile(`${folder}-memory-note`, "");
    run.journal.length = 0;
    run.restart(`${folder}-memory-2`);
    const { output } = await run.call("crawl_parallel", { url: articles[0] });
    expect(output).toContain("a file with other content has that name");
    expect(await readFile(file, "utf8")).toBe("my own notes");
  });
});

describe("a crawl of twelve pages", () => {
  const pages = [
    url(1, "article-1"),
    url(2, "gone"),
    url(3, "hang"),
    url(4, "binary"),
    url(5, "loop"),
    url(6, "huge"),
    url(7, "removed"),
    url(8, "late-1"),
    url(9, "article-2"),
    url(10, "article-3"),
    url(11, "article-4"),
    url(12, "article-5"),
  ];
  const countsOf = (site: ReturnType<typeof reportSite>) =>
    pages.map((page) => site.countOf(page.slice("http://".length)));

  test("stops after two batches of five, abandons pages that hang, and retries those alone", async ({
    run,
    site,
    folder,
  }) => {
    const crawl = run.call("crawl_parallel", { urls: pages });
    await run.abandonLast(1); // of the first batch
    await run.abandonLast(1); // of the second batch
    await run.abandonLast(1); // of the two retries
    const { output } = await crawl;
    expect(output).toMatch(/^crawled 4\/12 pages; this run: 4 of at most 10 successes, 2 of 2 batches/);
    expect(Object.values(statusesOf(output))).toEqual([
      ...["ok", "1214", "1234", "failed", "failed"],
      ...["failed", "1214", "ok", "ok", "ok"],
      ...["over_cap", "over_cap"],
    ]);
    expect(countsOf(site)).toEqual([1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 0, 0]);
    expect(await filesIn(folder)).toHaveLength(4);
    // The caps hold over all calls of the run, and a page is never fetched a third time.
    const again = await run.call("crawl_parallel", { urls: pages });
    expect(again.output).toMatch(/^crawled 4\/12 pages/);
    expect(countsOf(site)).toEqual([1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 0, 0]);
  });

  test("has the same caps as two calls of five, and as single calls at once", async ({ run, site }) => {
    await run.call("crawl_parallel", { urls: articles.slice(0, 5) });
    const five = articles.slice(5, 10).map((page) => run.call("crawl_parallel", { url: page }));
    for (const { output } of await Promise.all(five)) expect(output).toMatch(/^crawled 1\/1 pages/);
    const more = await run.call("crawl_parallel", { urls: articles.slice(10) });
    expect(more.output).toContain("this run: 10 of at most 10 successes");
    expect(Object.values(statusesOf(more.output))).toEqual(["over_cap", "over_cap"]);
    const counts = articles.map((page) => site.countOf(page.slice("http://".length)));
    expect(counts).toEqual([...Array.from({ length: 10 }, () => 1), 0, 0]);
  });

  test("logs the errors of a page reader and skips the page, without a retry", async ({ run, site }) => {
    const { output, events } = await run.call("crawl_parallel", {
      urls: [url(1, "mcp"), url(2, "cut"), url(3, "timeout"), url(4, "missing")],
    });
    expect(Object.values(statusesOf(output))).toEqual(["mcp_error", "unreadable", "1234", "1214"]);
    expect(events).toEqual([
      expect.objectContaining({
        name: "crawl_page_skipped",
        level: "warn",
        fields: expect.objectContaining({ url: url(1, "mcp") }),
      }),
      expect.objectContaining({
        name: "crawl_page_unreadable",
        level: "debug",
        fields: expect.objectContaining({ url: url(2, "cut") }),
      }),
    ]);
    const counts = ["site1.example/mcp", "site2.example/cut", "site3.example/timeout", "site4.example/missing"];
    expect(counts.map(site.countOf)).toEqual([1, 1, 2, 1]);
  });
});

describe("a domain", () => {
  const missing = ["gone-1", "gone-2", "gone-3"].map((path) => url(1, path));

  test("is blacklisted after three missing pages, also in later sessions, and its pages are skipped", async ({
    run,
    site,
    folder,
  }) => {
    const first = await run.call("crawl_parallel", { urls: missing.slice(0, 2) });
    expect(first.events).toBeUndefined();
    const second = await run.call("crawl_parallel", { urls: [...missing.slice(2), url(2, "article")] });
    expect(second.events).toEqual([
      { name: "domain_blacklisted", level: "warn", fields: { domain: "site1.example", failures: 3 } },
    ]);
    const session = { session: "00000000-0000-7000-8000-0000000000f1", run: "00000000-0000-7000-8000-0000000000f2" };
    run.journal.length = 0;
    run.restart();
    const later = await run.call("crawl_parallel", { urls: [url(1, "article"), url(3, "article")] }, session);
    expect(statusesOf(later.output)).toEqual({ [url(1, "article")]: "blacklisted", [url(3, "article")]: "ok" });
    expect(later.output).toContain("site1.example is blacklisted: too many of its pages do not exist");
    expect(site.countOf("site1.example/article")).toBe(0);
    expect(await filesIn(folder)).toHaveLength(2);
  });

  test("is not blacklisted by timeouts, nor by two missing pages", async ({ run, site }) => {
    const urls = [url(1, "hang-1"), url(1, "timeout-1"), url(1, "timeout-2"), ...missing.slice(0, 2)];
    const crawl = run.call("crawl_parallel", { urls });
    await run.abandonLast(1);
    await run.abandonLast(1);
    expect((await crawl).events).toBeUndefined();
    const { output } = await run.call("crawl_parallel", { url: url(1, "article") });
    expect(statusesOf(output)).toEqual({ [url(1, "article")]: "ok" });
    expect(site.countOf("site1.example/article")).toBe(1);
  });
});

describe("a crawl that was interrupted", () => {
  const urls = [
    url(1, "article-1"),
    url(2, "late-2"),
    url(3, "hang"),
    url(4, "article-4"),
    url(5, "article-5"),
    url(6, "article-6"),
  ];
  const countsOf = (site: ReturnType<typeof reportSite>) =>
    urls.map((page) => site.countOf(page.slice("http://".length)));

  /** Interrupts a crawl and resumes it, on a host with another memory if one is given. */
  async function resumeInterrupted({ run, site, folder, memoryFolder }: Crawl, resumeFolder?: string) {
    const killed = new AbortController();
    const call = run.begin("crawl_parallel", { urls }, killed.signal);
    // Three articles of the first batch are saved and finished, two pages hang, and the second batch has not begun.
    await expect.poll(() => finishedIn(memoryFolder)).toBe(3);
    await expect.poll(() => site.countOf("site3.example/hang")).toBe(1);
    killed.abort();
    const resumed = run.resume(call, "crawl_parallel", { urls }, resumeFolder);
    await expect.poll(() => filesIn(folder)).toHaveLength(5);
    await run.abandonLast(1);
    const { output, filesCreated } = await resumed;
    expect(Object.values(statusesOf(output))).toEqual(["ok", "ok", "1234", "ok", "ok", "ok"]);
    return filesCreated;
  }

  test("fetches each open page once more at most, and no finished page again", async ({
    run,
    site,
    folder,
    memoryFolder,
  }) => {
    const filesCreated = await resumeInterrupted({ run, site, folder, memoryFolder });
    expect(countsOf(site)).toEqual([1, 2, 2, 1, 1, 1]);
    expect(filesCreated.toSorted()).toEqual(await filesIn(folder));
  });

  test("counts every page of the call as fetched once, on a host that has only the journal", async ({
    run,
    site,
    folder,
    memoryFolder,
  }) => {
    await resumeInterrupted({ run, site, folder, memoryFolder }, `${memoryFolder}-elsewhere`);
    expect(countsOf(site).every((count) => count <= 2)).toBe(true);
    // A third host knows the pages from the outcome of the call.
    run.restart(`${memoryFolder}-third`);
    const more = await run.call("crawl_parallel", { urls: articles.slice(6) });
    expect(Object.values(statusesOf(more.output))).toEqual(["ok", "ok", "ok", "ok", "over_cap", "over_cap"]);
  });
});

/** How many pages the ledger has with an outcome. A page gets it after its file. */
async function finishedIn(memoryFolder: string): Promise<number> {
  const entries = await readdir(memoryFolder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return texts.filter((text) => text.includes('"isOpen":false')).length;
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, "search_results")).catch(() => []);
  return names
    .filter((name) => name.endsWith(".md"))
    .map((name) => `search_results/${name}`)
    .sort();
}
