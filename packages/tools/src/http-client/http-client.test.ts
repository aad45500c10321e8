// Servers lie, drip, loop and blow up. Whatever they do, a request ends in time, within its caps, and says what happened.
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test, vi } from "vitest";
import { patient, serve, serveBytes, type TestWebOptions, testWeb } from "./servers.fixture.ts";

/** What is asked of a server of the test's own, under a public name. */
async function ask(port: number, path = "/", options: TestWebOptions = {}, signal = patient) {
  const { ask: client } = testWeb({ sites: { "site.example": port, "other.example": port }, ...options });
  return client({ url: new URL(`http://site.example${path}`), signal });
}

describe("a request", () => {
  test("says who asks, for which host, and carries nothing else", async () => {
    await using site = await serve((_request, response) => response.end("hello"));
    const { status, body, url } = await ask(site.port, "/a%20b?q=1#part");

    expect({ status, body: body.toString(), url: url.href }).toEqual({
      status: 200,
      body: "hello",
      url: "http://site.example/a%20b?q=1#part",
    });
    expect(site.requests).toEqual([
      {
        method: "GET",
        path: "/a%20b?q=1",
        body: "",
        headers: {
          host: "site.example",
          "user-agent": expect.stringMatching(/^troupe\/\d+\.\d+\.\d+ \(.*one page for one user.*\)$/),
          accept: expect.stringContaining("text/html"),
          "accept-language": expect.any(String),
          "accept-encoding": expect.stringContaining("gzip"),
          connection: "close",
        },
      },
    ]);
  });

  test("uses no proxy of the environment", async () => {
    await using site = await serve((_request, response) => response.end("hello"));
    await using proxy = await serve((_request, response) => response.end("the proxy"));
    for (const name of ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"]) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    }
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    expect((await ask(site.port)).body.toString()).toBe("hello");
    vi.unstubAllEnvs();
    expect(proxy.connections).toBe(0);
  });

  test("may have a body and headers, which no redirect gets", async () => {
    await using site = await serve((request, response) => {
      if (request.url === "/end") response.end("done");
      else response.writeHead(307, { location: "http://other.example/end" }).end();
    });
    const { ask: client } = testWeb({ sites: { "site.example": site.port, "other.example": site.port } });
    const headers = { authorization: "Bearer top-secret", "content-length": "4" };
    await client({
      url: new URL("http://site.example/"),
      ask: { method: "POST", headers, body: "body" },
      signal: patient,
    });

    const [first, second] = site.requests;
    expect(first).toMatchObject({ method: "POST", body: "body", headers: { authorization: "Bearer top-secret" } });
    expect(second).toMatchObject({ method: "GET", body: "", headers: { host: "other.example" } });
    expect(JSON.stringify(second)).not.toContain("top-secret");
  });
});

describe("redirects", () => {
  const redirecting = (next: (path: string) => string) =>
    serve((request, response) => {
      const path = request.url ?? "";
      const location = next(path);
      if (location === "") response.end(`at ${path}`);
      else response.writeHead(302, { location }).end("a body that nobody reads");
    });

  test("are followed, wherever they lead, and named", async () => {
    await using site = await redirecting((path) => ({ "/a": "/b?x=1", "/b?x=1": "//other.example/Ã¼" })[path] ?? "");
    const { url, chain, body } = await ask(site.port, "/a");
    expect(url.href).toBe("http://other.example/%C3%BC");
    expect(chain).toEqual(["http://site.example/a", "http://site.example/b?x=1", "http://other.example/%C3%BC"]);
    expect(body.toString()).toBe("at /%C3%BC");
  });

  test("in a circle are named", async () => {
    await using site = await redirecting((path) => ({ "/a": "/b", "/b": "/a#again" })[path] ?? "");
    await expect(ask(site.port, "/a")).rejects.toThrow(
      "the page redirects in a circle: http://site.example/a → http://site.example/b → http://site.example/a",
    );
  });

  test("for ever end after five", async () => {
    await using site = await redirecting((path) => `${path}x`);
    await expect(ask(site.port, "/")).rejects.toThrow(/^no more than 5 redirects are followed: .*\/xxxxxx$/);
    expect(site.requests).toHaveLength(6);
  });

  test.for([
    ["http://", "which is no URL"],
    ["file:///etc/passwd", "only http and https"],
    ["http://user:pw@other.example/", "user or password"],
  ])("to %s are not followed", async ([location = "", message = ""]) => {
    await using site = await redirecting(() => location);
    await expect(ask(site.port)).rejects.toThrow(message);
  });

  test("from https to http are not followed", async () => {
    await using site = await redirecting((path) => (path === "/" ? "http://other.example/plain" : ""));
    // What would be TLS is not, so that no certificate is needed.
    const web = testWeb({ sites: { "site.example": site.port, "other.example": site.port } });
    await expect(web.ask({ url: new URL("https://site.example/"), signal: patient })).rejects.toThrow(
      "site.example redirects from https to http, which is not followed; ask for http://other.example/plain if",
    );
    expect(site.requests).toHaveLength(1);
  });

  test("without a place to go to are answers", async () => {
    await using site = await serve((_request, response) => response.writeHead(302).end());
    expect(await ask(site.port)).toMatchObject({ status: 302 });
  });
});

describe("compressed content", () => {
  const text = "compressed ".repeat(1_000);
  test.for([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["zstd", zstdCompressSync(text)],
    ["identity", Buffer.from(text)],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
  ] as const)("%s is read", async ([encoding, bytes]) => {
    await using site = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bytes);
    });
    expect((await ask(site.port)).body.toString()).toBe(text);
  });

  const bomb = Buffer.alloc(50_000_000);
  test.for([
    ["gzip", gzipSync(bomb)],
    ["deflate", deflateSync(bomb)],
    ["br", brotliCompressSync(bomb)],
    ["zstd", zstdCompressSync(bomb)],
    ["gzip, gzip", gzipSync(gzipSync(bomb))],
  ] as const)("a bomb of %s is not", async ([encoding, bytes]) => {
    await using site = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bytes);
    });
    await expect(ask(site.port)).rejects.toThrow("site.example sends, decompressed, more than the 20000000 bytes");
  });

  test.for([
    ["gzip", gzipSync(text).subarray(0, 50), /is damaged|could not be read/],
    ["gzip", Buffer.from("no gzip at all"), /is damaged/],
    ["br", Buffer.from("no brotli at all, as it seems"), /is damaged/],
    ["zstd", Buffer.from("no zstd at all"), /is damaged/],
    ["rot13", Buffer.from("uryyb"), /compressed its answer as "rot13"/],
    ["gzip, gzip, gzip", Buffer.from("x"), /compressed its answer as/],
  ] as const)("%s that is none of it fails", async ([encoding, bytes, message]) => {
    await using site = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bytes);
    });
    await expect(ask(site.port)).rejects.toThrow(message);
  });
});

describe("too much", () => {
  test("of a body, whatever length it says, is not read on", async () => {
    let isOver = false;
    await using site = await serve((_request, response) => {
      const more = (): void => {
        while (!isOver && response.write(Buffer.alloc(65_536, "x")));
      };
      response.on("drain", more).on("close", () => (isOver = true));
      more();
    });
    await expect(ask(site.port)).rejects.toThrow("site.example sends more than the 10000000 bytes");
    await vi.waitUntil(() => isOver, { timeout: 10_000 });
  });

  test.for([
    ["of headers", `HTTP/1.1 200 OK\r\n${"x-header: ".concat("x".repeat(1_000), "\r\n").repeat(100)}\r\nhello`],
    ["in one header", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}\r\n\r\nhello`],
  ])("%s is refused", async ([, bytes = ""]) => {
    await using site = await serveBytes((socket) => socket.end(bytes));
    await expect(ask(site.port)).rejects.toThrow("its headers are too large");
  });
});

describe("what is no answer:", () => {
  test.for([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n", /what it answered is not HTTP/],
    ["nothing", "", /ended before its answer was whole/],
    [
      "chunks that are none",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\nhello\r\n",
      /not HTTP|before its answer was whole/,
    ],
    [
      "an end before its end",
      "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello",
      /ended before its answer was whole/,
    ],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello", /not HTTP/],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      /not HTTP/,
    ],
    [
      "another protocol from here on",
      "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      /another protocol/,
    ],
  ] as const)("%s", async ([, bytes, message]) => {
    await using site = await serveBytes((socket) => socket.end(bytes));
    await expect(ask(site.port)).rejects.toThrow(message);
  });

  test("nobody", async () => {
    const site = await serve(() => {});
    await site[Symbol.asyncDispose]();
    await expect(ask(site.port)).rejects.toMatchObject({
      message: expect.stringContaining("nothing listens there"),
      runError: { type: "network", recoverable: false },
    });
  });

  test("no TLS where it is wanted", async () => {
    await using site = await serve((_request, response) => response.end("plain"));
    const web = testWeb({ policy: { privateHosts: ["127.0.0.1"] } });
    const url = new URL(`https://127.0.0.1:${site.port}/`);
    await expect(web.ask({ url, signal: patient })).rejects.toThrow("it does not speak TLS");
  });
});

describe("time, which a test moves on:", () => {
  test.for([
    [
      "a name that nobody answers for",
      10_000,
      "site.example could not be looked up within 10000 ms",
      { resolve: () => new Promise<never>(() => {}) },
    ],
    ["a server that does not begin", 15_000, "did not begin to answer within 15000 ms", {}],
  ] as const)("%s", async ([, ms, message, options]) => {
    const clock = createSimulatedClock();
    await using site = await serve(() => {});
    const asking = ask(site.port, "/", { clock, ...options });
    const failed = expect(asking).rejects.toMatchObject({
      message: expect.stringContaining(message),
      runError: { type: "timeout", recoverable: true },
    });
    if (!("resolve" in options)) await vi.waitUntil(() => site.requests.length === 1, { timeout: 10_000 });
    await letGo();
    clock.advance(ms);
    await failed;
  });

  test("a server that drips", async () => {
    const clock = createSimulatedClock();
    let isClosed = false;
    await using site = await serve((_request, response) => {
      response.flushHeaders();
      const drip = setInterval(() => response.write("x"), 5);
      response.on("close", () => {
        clearInterval(drip);
        isClosed = true;
      });
    });
    const failed = expect(ask(site.port, "/", { clock })).rejects.toThrow(
      "did not send all of its answer within 30000 ms",
    );
    await vi.waitUntil(() => site.requests.length === 1, { timeout: 10_000 });
    await letGo();
    for (let second = 0; second < 30; second += 1) {
      clock.advance(1_000);
      await letGo();
    }
    await failed;
    await vi.waitUntil(() => isClosed, { timeout: 10_000 });
  });

  test("of whoever gives up", async () => {
    const abort = new AbortController();
    await using site = await serve(() => abort.abort());
    await expect(ask(site.port, "/", {}, abort.signal)).rejects.toMatchObject({ runError: { type: "cancelled" } });
    await expect(ask(site.port, "/", {}, abort.signal)).rejects.toMatchObject({ runError: { type: "cancelled" } });
    expect(site.connections).toBe(1);
  });

  /** Until what has come over the wire has been heard of. */
  async function letGo(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
});
