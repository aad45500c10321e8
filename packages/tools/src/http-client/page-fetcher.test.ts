// Any number of agents of a session cause one request for a page, and hosts get few requests at a time.
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test, vi } from "vitest";
import { createHostLimiter } from "./host-limiter.ts";
import type { HttpResponse } from "./http-client.ts";
import { createPageCache, createPageFetcher } from "./page-fetcher.ts";
import { neverAborts, serve, testWeb } from "./servers.fixture.ts";

const scope = { session: "one", signal: neverAborts };

function responseOf(url: string, overrides: Partial<HttpResponse> = {}): HttpResponse {
  return { status: 200, headers: {}, body: Buffer.from("page"), url: new URL(url), chain: [url], ...overrides };
}

describe("a page", () => {
  test("is fetched once by its session, under every URL that led to it", async () => {
    await using site = await serve((request, response) => {
      if (request.url === "/old") response.writeHead(301, { location: "/new" }).end();
      else response.end(`at ${request.url}`);
    });
    const { request, options } = testWeb({ sites: { "site.example": site.port } });
    const clock = options.clock ?? createSimulatedClock();
    const fetcher = createPageFetcher({ request, clock });

    for (const path of ["/old", "/old#part", "/new", "/new"]) {
      expect((await fetcher.fetch(`http://site.example${path}`, scope)).body.toString()).toBe("at /new");
    }
    expect(site.requests.map(({ path }) => path)).toEqual(["/old", "/new"]);
    await fetcher.fetch("http://site.example/new", { ...scope, session: "two" });
    expect(site.requests).toHaveLength(3);
  });

  test("is fetched once when several callers wait for it", async () => {
    const requests: string[] = [];
    const clock = createSimulatedClock();
    const request = async ({ url }: { url: URL }) => {
      requests.push(url.pathname);
      return responseOf(url.href);
    };
    const fetcher = createPageFetcher({ request, clock });
    const all = ["/a", "/a", "/a", "/a"].map((path) => fetcher.fetch(`http://site.example${path}`, scope));
    await vi.waitUntil(() => {
      clock.advance(200);
      return requests.length > 0;
    });
    for (let turn = 0; turn < 5; turn += 1) {
      await settle();
      clock.advance(200);
    }
    await Promise.all(all);
    expect(requests).toEqual(["/a"]);
  });

  test.for([
    ["its server forbids to store it", { headers: { "cache-control": "private, No-Store" } }],
    ["it did not exist", { status: 404 }],
    ["its server had a problem", { status: 500 }],
  ] as const)("is fetched again if %s", async ([, overrides]) => {
    const requests: string[] = [];
    const request = async ({ url }: { url: URL }) => {
      requests.push(url.href);
      return responseOf(url.href, overrides);
    };
    const clock = createSimulatedClock();
    const fetcher = createPageFetcher({ request, clock });
    await fetcher.fetch("http://site.example/a", scope);
    clock.advance(1_000);
    await fetcher.fetch("http://site.example/a", scope);
    expect(requests).toHaveLength(2);
  });
});

describe("the cache", () => {
  test("drops a page after 15 minutes", () => {
    const clock = createSimulatedClock();
    const cache = createPageCache({ clock });
    cache.put("one", responseOf("http://a/"));
    clock.advance(14 * 60_000);
    expect(cache.get("one", "http://a/")).not.toBeNull();
    clock.advance(60_000);
    expect(cache.get("one", "http://a/")).toBeNull();
  });

  test("has a limit of pages and of bytes", () => {
    const cache = createPageCache({ clock: createSimulatedClock(), entriesMax: 3, bytesMax: 100 });
    const cached = () => ["a", "b", "c", "d", "e"].filter((each) => cache.get("one", `http://${each}/`) !== null);
    for (const each of ["a", "b", "c", "d"]) cache.put("one", responseOf(`http://${each}/`));
    expect(cached()).toEqual(["b", "c", "d"]);
    cache.put("one", responseOf("http://e/", { body: Buffer.alloc(95) }));
    expect(cached()).toEqual(["d", "e"]);
    cache.put("one", responseOf("http://a/", { body: Buffer.alloc(101) }));
    expect(cached()).toEqual([]);
    cache.put("one", responseOf("http://b/"));
    expect(cached()).toEqual(["b"]);
  });
});

describe("a host", () => {
  test("gets two requests at a time, with a gap between them", async () => {
    const clock = createSimulatedClock();
    const { run } = createHostLimiter(clock, { gapMs: 200 });
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const all = [1, 2, 3].map((each) =>
      run("site.example", neverAborts, () => {
        started.push(each);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await vi.waitUntil(() => started.length === 1);
    clock.advance(199);
    await settle();
    expect(started).toEqual([1]);
    clock.advance(1);
    await vi.waitUntil(() => started.length === 2);
    clock.advance(1_000);
    await settle();
    expect(started).toEqual([1, 2]);
    // Another host does not wait.
    await run("other.example", neverAborts, async () => started.push(9));
    ends[0]?.();
    await vi.waitUntil(() => started.length === 4);
    for (const end of ends) end();
    await Promise.all(all);
    expect(started).toEqual([1, 2, 9, 3]);
  });

  test("passes the slot of a cancelled request to the next one", async () => {
    const clock = createSimulatedClock();
    const { run } = createHostLimiter(clock, { gapMs: 0 });
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => ends.push(resolve));
    const first = run("site.example", neverAborts, work);
    const second = run("site.example", neverAborts, work);
    await vi.waitUntil(() => ends.length === 2);
    const abort = new AbortController();
    const third = run("site.example", abort.signal, work);
    const fourth = run("site.example", neverAborts, work);
    const cancelled = expect(third).rejects.toThrow("enough");
    abort.abort(new Error("enough"));
    await cancelled;
    ends[0]?.();
    await vi.waitUntil(() => ends.length === 3);
    for (const end of ends) end();
    await Promise.all([first, second, fourth]);
  });

  test.for([429, 503])("that answers %i with Retry-After gets no requests for that time", async (status) => {
    const clock = createSimulatedClock(Date.UTC(2026, 0, 1));
    const requests: string[] = [];
    const request = async ({ url }: { url: URL }) => {
      requests.push(url.href);
      return responseOf(url.href, { status, headers: { "retry-after": "120" } });
    };
    const fetcher = createPageFetcher({ request, clock });
    expect((await fetcher.fetch("http://site.example/a", scope)).status).toBe(status);
    clock.advance(20_000);
    await expect(fetcher.fetch("http://site.example/b", scope)).rejects.toMatchObject({
      message: expect.stringContaining("accepts no requests for another 100 s"),
      runError: { type: "rate_limit", recoverable: true, retryAfterMs: 100_000 },
    });
    clock.advance(100_000);
    await fetcher.fetch("http://site.example/b", scope);
    expect(requests).toHaveLength(2);
  });
});

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
