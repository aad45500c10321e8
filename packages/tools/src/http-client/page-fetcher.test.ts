// However many agents of a session read the same page, its server is asked once, and never by a crowd.
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test, vi } from "vitest";
import { createPoliteness } from "./host-limiter.ts";
import type { WebAnswer } from "./http-client.ts";
import { createPageCache } from "./page-cache.ts";
import { createPageSource } from "./page-fetcher.ts";
import { patient, serve, testWeb } from "./servers.fixture.ts";

const scope = { session: "one", signal: patient };

function answerOf(url: string, overrides: Partial<WebAnswer> = {}): WebAnswer {
  return { status: 200, headers: {}, body: Buffer.from("page"), url: new URL(url), chain: [url], ...overrides };
}

describe("a page that was read", () => {
  test("is not asked for again by its session, from whichever URL it came", async () => {
    await using site = await serve((request, response) => {
      if (request.url === "/old") response.writeHead(301, { location: "/new" }).end();
      else response.end(`at ${request.url}`);
    });
    const { ask, options } = testWeb({ sites: { "site.example": site.port } });
    const clock = options.clock ?? createSimulatedClock();
    const pages = createPageSource({ ask, clock });

    for (const path of ["/old", "/old#part", "/new", "/new"]) {
      expect((await pages.get(`http://site.example${path}`, scope)).body.toString()).toBe("at /new");
    }
    expect(site.requests.map(({ path }) => path)).toEqual(["/old", "/new"]);
    await pages.get("http://site.example/new", { ...scope, session: "two" });
    expect(site.requests).toHaveLength(3);
  });

  test("is asked for once where several wait for their turn", async () => {
    const asked: string[] = [];
    const clock = createSimulatedClock();
    const ask = async ({ url }: { url: URL }) => {
      asked.push(url.pathname);
      return answerOf(url.href);
    };
    const pages = createPageSource({ ask, clock });
    const all = ["/a", "/a", "/a", "/a"].map((path) => pages.get(`http://site.example${path}`, scope));
    await vi.waitUntil(() => {
      clock.advance(200);
      return asked.length > 0;
    });
    for (let turn = 0; turn < 5; turn += 1) {
      await settle();
      clock.advance(200);
    }
    await Promise.all(all);
    expect(asked).toEqual(["/a"]);
  });

  test.for([
    ["its server does not want it kept", { headers: { "cache-control": "private, No-Store" } }],
    ["it was not there", { status: 404 }],
    ["its server had a problem", { status: 500 }],
  ] as const)("is asked for again where %s", async ([, overrides]) => {
    const asked: string[] = [];
    const ask = async ({ url }: { url: URL }) => {
      asked.push(url.href);
      return answerOf(url.href, overrides);
    };
    const clock = createSimulatedClock();
    const pages = createPageSource({ ask, clock });
    await pages.get("http://site.example/a", scope);
    clock.advance(1_000);
    await pages.get("http://site.example/a", scope);
    expect(asked).toHaveLength(2);
  });
});

describe("what is kept", () => {
  test("is forgotten after a quarter of an hour", () => {
    const clock = createSimulatedClock();
    const cache = createPageCache({ clock });
    cache.put("one", answerOf("http://a/"));
    clock.advance(14 * 60_000);
    expect(cache.get("one", "http://a/")).not.toBeNull();
    clock.advance(60_000);
    expect(cache.get("one", "http://a/")).toBeNull();
  });

  test("is no more than a number of pages, and of bytes", () => {
    const cache = createPageCache({ clock: createSimulatedClock(), entriesMax: 3, bytesMax: 100 });
    const kept = () => ["a", "b", "c", "d", "e"].filter((each) => cache.get("one", `http://${each}/`) !== null);
    for (const each of ["a", "b", "c", "d"]) cache.put("one", answerOf(`http://${each}/`));
    expect(kept()).toEqual(["b", "c", "d"]);
    cache.put("one", answerOf("http://e/", { body: Buffer.alloc(95) }));
    expect(kept()).toEqual(["d", "e"]);
    cache.put("one", answerOf("http://a/", { body: Buffer.alloc(101) }));
    expect(kept()).toEqual([]);
    cache.put("one", answerOf("http://b/"));
    expect(kept()).toEqual(["b"]);
  });
});

describe("a host", () => {
  test("is asked by two at a time, and with a moment between them", async () => {
    const clock = createSimulatedClock();
    const { withHost } = createPoliteness(clock, { gapMs: 200 });
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const all = [1, 2, 3].map((each) =>
      withHost("site.example", patient, () => {
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
    // Another host does not wait for it.
    await withHost("other.example", patient, async () => started.push(9));
    ends[0]?.();
    await vi.waitUntil(() => started.length === 4);
    for (const end of ends) end();
    await Promise.all(all);
    expect(started).toEqual([1, 2, 9, 3]);
  });

  test("is left by whoever gives up while waiting, and the next one has the place", async () => {
    const clock = createSimulatedClock();
    const { withHost } = createPoliteness(clock, { gapMs: 0 });
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => ends.push(resolve));
    const first = withHost("site.example", patient, work);
    const second = withHost("site.example", patient, work);
    await vi.waitUntil(() => ends.length === 2);
    const abort = new AbortController();
    const third = withHost("site.example", abort.signal, work);
    const fourth = withHost("site.example", patient, work);
    const gone = expect(third).rejects.toThrow("enough");
    abort.abort(new Error("enough"));
    await gone;
    ends[0]?.();
    await vi.waitUntil(() => ends.length === 3);
    for (const end of ends) end();
    await Promise.all([first, second, fourth]);
  });

  test.for([429, 503])("that answers %i and says for how long is left alone so long", async (status) => {
    const clock = createSimulatedClock(Date.UTC(2026, 0, 1));
    const asked: string[] = [];
    const ask = async ({ url }: { url: URL }) => {
      asked.push(url.href);
      return answerOf(url.href, { status, headers: { "retry-after": "120" } });
    };
    const pages = createPageSource({ ask, clock });
    expect((await pages.get("http://site.example/a", scope)).status).toBe(status);
    clock.advance(20_000);
    await expect(pages.get("http://site.example/b", scope)).rejects.toMatchObject({
      message: expect.stringContaining("left alone for another 100 s"),
      runError: { type: "rate_limit", recoverable: true, retryAfterMs: 100_000 },
    });
    clock.advance(100_000);
    await pages.get("http://site.example/b", scope);
    expect(asked).toHaveLength(2);
  });
});

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
