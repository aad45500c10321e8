/** Observers see durable outcomes, work once for each call, and disturb neither the run nor each other. */
import { type Entry, silentLogger, ToolOutcome } from "@troupe/core";
import { describe, expect, test, vi } from "vitest";
import { rootRequest } from "../host/host-deps.test-helper.ts";
import { builtinObservers, type ObserverFiles, type Observers } from "./observer.ts";
import { RunObservers } from "./run-observers.ts";

const request = rootRequest({ run: "0198a000-0000-7000-8000-000000000001" });

function memoryFiles() {
  const files = new Map<string, string>();
  const access: ObserverFiles = {
    read: async (_workspace, path) => files.get(path) ?? null,
    async replace(_workspace, path, text, before) {
      if ((files.get(path) ?? null) !== before) return false;
      files.set(path, text);
      return true;
    },
  };
  return { files, access };
}

const replied = (name: string, args: object): Entry =>
  ({ kind: "model.replied", step: 1, reply: { calls: [{ id: "1", name, args, problem: null }] } }) as unknown as Entry;
const finished = (tool: string, outcome: object): Entry =>
  ({ kind: "tool.finished", step: 1, call: 0, tool, at: 0, outcome: ToolOutcome.parse(outcome) }) as unknown as Entry;

function observe(
  specs: { name: string; params: Record<string, boolean> }[],
  files: ObserverFiles,
  observers: Observers = builtinObservers,
  isDelegating = false,
) {
  const logger = silentLogger;
  return new RunObservers({ request, specs, observers, files, logger, isDelegating, workspace: () => "/w" });
}

const named = (name: string) => [{ name, params: {} }];
const search = [replied("WebSearch", { query: "rivers" }), finished("web_search", { output: "1. River" })];

describe("save-search-results", () => {
  test("saves a search with its arguments, once for each call", async () => {
    const { files, access } = memoryFiles();
    const replace = vi.spyOn(access, "replace");
    for (let host = 0; host < 2; host++) {
      const observers = observe(named("save-search-results"), access);
      for (const entry of search) observers.note(entry);
      await observers.idle();
    }
    const [[path, text] = ["", ""]] = files;
    expect(path).toMatch(/^search_results\/web_search-[0-9a-f]{12}\.json$/);
    expect(JSON.parse(text)).toMatchObject({ tool: "web_search", args: { query: "rivers" }, results: "1. River" });
    expect(replace).toHaveBeenCalledOnce();
  });

  test.each([true, false])(
    "with `delegating`, saves searches if the request has to be delegated: %s",
    async (isOwed) => {
      const { files, access } = memoryFiles();
      const specs = [{ name: "save-search-results", params: { delegating: true } }];
      const observers = observe(specs, access, builtinObservers, isOwed);
      for (const entry of search) observers.note(entry);
      await observers.idle();
      expect(files.size).toBe(isOwed ? 1 : 0);
    },
  );

  test("saves no failed search, and no other call", async () => {
    const { files, access } = memoryFiles();
    const observers = observe(named("save-search-results"), access);
    const error = { type: "network", message: "down", recoverable: true };
    for (const entry of [finished("web_search", { output: "", error }), finished("read", { output: "x" })])
      observers.note(entry);
    await observers.idle();
    expect(files.size).toBe(0);
  });
});

test("save-workbench-activity saves each transfer, the failed ones too", async () => {
  const { files, access } = memoryFiles();
  const observers = observe(named("save-workbench-activity"), access);
  observers.note(replied("workbench_upload", { local_path: "a", remote_path: "b" }));
  observers.note(
    finished("workbench_upload", { output: "no", error: { type: "params", message: "no", recoverable: false } }),
  );
  await observers.idle();
  expect([...files.values()].map((text) => JSON.parse(text))).toMatchObject([
    { tool: "workbench_upload", success: false, args: { local_path: "a", remote_path: "b" } },
  ]);
});

describe("enrich-corpus", () => {
  const read = [
    replied("webReader", { url: "https://a.example/" }),
    finished("webReader", { output: "title: A\n\ntext" }),
  ];
  const corpus = {
    extraction_timestamp: "x",
    total_articles: 1,
    successful: 0,
    failed: 1,
    articles: [{ url: "https://b.example/" }],
  };

  test("adds a page to the saved corpus, once, and keeps its counts right", async () => {
    const { files, access } = memoryFiles();
    files.set("expanded_corpus.json", JSON.stringify(corpus));
    for (let host = 0; host < 2; host++) {
      const observers = observe(named("enrich-corpus"), access);
      for (const entry of read) observers.note(entry);
      await observers.idle();
    }
    expect(JSON.parse(files.get("expanded_corpus.json") ?? "")).toMatchObject({
      ...{ total_articles: 2, successful: 1, failed: 1 },
      articles: [{ url: "https://b.example/" }, { url: "https://a.example/", title: "A", status: "success" }],
    });
  });

  test("tries again if another run changes the corpus meanwhile", async () => {
    const { files, access } = memoryFiles();
    files.set("expanded_corpus.json", JSON.stringify(corpus));
    let changes = 0;
    const busy: ObserverFiles = {
      ...access,
      async replace(workspace, path, text, before) {
        if (path === "expanded_corpus.json" && changes++ === 0) {
          files.set(path, JSON.stringify({ ...corpus, articles: [{ url: "https://c.example/" }] }));
        }
        return access.replace(workspace, path, text, before);
      },
    };
    const observers = observe(named("enrich-corpus"), busy);
    for (const entry of read) observers.note(entry);
    await observers.idle();
    const { articles } = JSON.parse(files.get("expanded_corpus.json") ?? "");
    expect(articles.map(({ url }: { url: string }) => url)).toEqual(["https://c.example/", "https://a.example/"]);
  });

  test("never creates a corpus, because a check looks for it", async () => {
    const { files, access } = memoryFiles();
    const observers = observe(named("enrich-corpus"), access);
    for (const entry of read) observers.note(entry);
    await observers.idle();
    expect([...files.keys()]).toEqual([expect.stringMatching(/^search_results\/webReader-/)]);
  });
});

test("an observer that throws, hangs, is unknown or has wrong params disturbs nothing", async () => {
  const { access } = memoryFiles();
  const seen: string[] = [];
  const warn = vi.fn();
  const observers = new RunObservers({
    request,
    specs: [
      ...named("throws"),
      ...named("missing"),
      { name: "save-search-results", params: { folder: 1 } },
      ...named("sees"),
    ],
    observers: {
      ...builtinObservers,
      throws: () => Promise.reject(new Error("broken")),
      sees: async ({ key }) => void seen.push(key),
    },
    files: access,
    logger: { ...silentLogger, warn },
    workspace: () => "/w",
  });
  for (const entry of search) observers.note(entry);
  await observers.idle();
  expect(seen).toEqual([`${request.run}/1/0`]);
  expect(warn.mock.calls.map(([, message]) => message)).toEqual([
    "the observer throws failed",
    "the observer missing failed",
    "the observer save-search-results failed",
  ]);
  const hanging = observe(named("hangs"), access, { hangs: () => new Promise(() => {}) });
  expect(search.map((entry) => hanging.note(entry))).toEqual([undefined, undefined]);
});
