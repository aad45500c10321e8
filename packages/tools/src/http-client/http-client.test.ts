// With any server, a request ends within its timeouts and limits, with an error that explains the problem.
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test, vi } from "vitest";
import { neverAborts, serve, serveBytes, type TestWebOptions, testWeb } from "./servers.fixture.ts";

/** Requests a path from a server of the test under a public name. */
async function get(port: number, path = "/", options: TestWebOptions = {}, signal = neverAborts) {
  const { request } = testWeb({ sites: { "site.example": port, "other.example": port }, ...options });
  return request({ url: new URL(`http://site.example${path}`), signal });
}

describe("a request", () => {
  test("sends its user agent and host, and nothing else", async () => {
    await using site = await serve((_request, response) => response.end("hello"));
    const { status, body, url } = await get(site.port, "/a%20b?q=1#part");

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

  test("ignores the proxies of the environment", async () => {
    await using site = await serve((_request, response) => response.end("hello"));
    await using proxy = await serve((_request, response) => response.end("the proxy"));
    for (const name of ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"]) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    }
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    expect((await get(site.port)).body.toString()).toBe("hello");
    vi.unstubAllEnvs();
    expect(proxy.connections).toBe(0);
  });

  test("can have a body and headers, which redirects do not get", async () => {
    await using site = await serve((request, response) => {
      if (request.url === "/end") response.end("done");
      else response.writeHead(307, { location: "http://other.example/end" }).end();
    });
    const { request } = testWeb({ sites: { "site.example": site.port, "other.example": site.port } });
    const headers = { authorization: "Bearer top-secret", "content-length": "4" };
    await request({
      url: new URL("http://site.example/"),
      method: "POST",
      headers,
      body: "body",
      signal: neverAborts,
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
      else response.writeHead(302, { location }).end("an ignored body");
    });

  test("are followed and listed", async () => {
    await using site = await redirecting((path) => ({ "/a": "/b?x=1", "/b?x=1": "//other.example/Ã¼" })[path] ?? "");
    const { url, chain, body } = await get(site.port, "/a");
    expect(url.href).toBe("http://other.example/%C3%BC");
    expect(chain).toEqual(["http://site.example/a", "http://site.example/b?x=1", "http://other.example/%C3%BC"]);
    expect(body.toString()).toBe("at /%C3%BC");
  });

  test("in a circle are an error", async () => {
    await using site = await redirecting((path) => ({ "/a": "/b", "/b": "/a#again" })[path] ?? "");
    await expect(get(site.port, "/a")).rejects.toThrow(
      "the page redirects in a circle: http://site.example/a → http://site.example/b → http://site.example/a",
    );
  });

  test("without end stop after five", async () => {
    await using site = await redirecting((path) => `${path}x`);
    await expect(get(site.port, "/")).rejects.toThrow(/^no more than 5 redirects are followed: .*\/xxxxxx$/);
    expect(site.requests).toHaveLength(6);
  });

  test.for([
    ["http://", "which is not a URL"],
    ["file:///etc/passwd", "only http and https"],
    ["http://user:pw@other.example/", "user or password"],
  ])("to %s are not followed", async ([location = "", message = ""]) => {
    await using site = await redirecting(() => location);
    await expect(get(site.port)).rejects.toThrow(message);
  });

  test("from https to http are not followed", async () => {
    await using site = await redirecting((path) => (path === "/" ? "http://other.example/plain" : ""));
    // The test socket does not use TLS, so that the test needs no certificate.
    const web = testWeb({ sites: { "site.example": site.port, "other.example": site.port } });
    await expect(web.request({ url: new URL("https://site.example/"), signal: neverAborts })).rejects.toThrow(
      "site.example redirects from https to http, which is not followed; request http://other.example/plain if",
    );
    expect(site.requests).toHaveLength(1);
  });

  test("without a location are returned", async () => {
    await using site = await serve((_request, response) => response.writeHead(302).end());
    expect(await get(site.port)).toMatchObject({ status: 302 });
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
    expect((await get(site.port)).body.toString()).toBe(text);
  });

  const bomb = Buffer.alloc(50_000_000);
  test.for([
    ["gzip", gzipSync(bomb)],
    ["deflate", deflateSync(bomb)],
    ["br", brotliCompressSync(bomb)],
    ["zstd", zstdCompressSync(bomb)],
    ["gzip, gzip", gzipSync(gzipSync(bomb))],
  ] as const)("a bomb of %s is an error", async ([encoding, bytes]) => {
    await using site = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bytes);
    });
    await expect(get(site.port)).rejects.toThrow("site.example sends more than 20000000 bytes after decompression");
  });

  test.for([
    ["gzip", gzipSync(text).subarray(0, 50), /is damaged|could not be read/],
    ["gzip", Buffer.from("no gzip at all"), /is damaged/],
    ["br", Buffer.from("no brotli at all, as it seems"), /is damaged/],
    ["zstd", Buffer.from("no zstd at all"), /is damaged/],
    ["rot13", Buffer.from("uryyb"), /sends the content encoding "rot13"/],
    ["gzip, gzip, gzip", Buffer.from("x"), /sends the content encoding/],
  ] as const)("damaged or unsupported %s is an error", async ([encoding, bytes, message]) => {
    await using site = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(bytes);
    });
    await expect(get(site.port)).rejects.toThrow(message);
  });
});

describe("too many bytes", () => {
  test("in a body stop the request, with any declared length", async () => {
    let isOver = false;
    await using site = await serve((_request, response) => {
      const more = (): void => {
        while (!isOver && response.write(Buffer.alloc(65_536, "x")));
      };
      response.on("drain", more).on("close", () => (isOver = true));
      more();
    });
    await expect(get(site.port)).rejects.toThrow("site.example sends more than 10000000 bytes");
    await vi.waitUntil(() => isOver);
  });

  test.for([
    ["in all headers", `HTTP/1.1 200 OK\r\n${"x-header: ".concat("x".repeat(1_000), "\r\n").repeat(100)}\r\nhello`],
    ["in one header", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}\r\n\r\nhello`],
  ])("%s are an error", async ([, bytes = ""]) => {
    await using site = await serveBytes((socket) => socket.end(bytes));
    await expect(get(site.port)).rejects.toThrow("the response headers are too large");
  });
});

describe("an invalid response:", () => {
  test.for([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n", /the response is not HTTP/],
    ["nothing", "", /closed before the response was complete/],
    [
      "invalid chunks",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\nhello\r\n",
      /not HTTP|before the response was complete/,
    ],
    ["an early end", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello", /closed before the response was complete/],
    ["two different lengths", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello", /not HTTP/],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      /not HTTP/,
    ],
    [
      "a switch to another protocol",
      "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      /another protocol/,
    ],
  ] as const)("%s", async ([, bytes, message]) => {
    await using site = await serveBytes((socket) => socket.end(bytes));
    await expect(get(site.port)).rejects.toThrow(message);
  });

  test("a closed port", async () => {
    const site = await serve(() => {});
    await site[Symbol.asyncDispose]();
    await expect(get(site.port)).rejects.toMatchObject({
      message: expect.stringContaining("no server listens there"),
      runError: { type: "network", recoverable: false },
    });
  });

  test("no TLS on an https URL", async () => {
    await using site = await serve((_request, response) => response.end("plain"));
    const web = testWeb({ policy: { privateHosts: ["127.0.0.1"] } });
    const url = new URL(`https://127.0.0.1:${site.port}/`);
    await expect(web.request({ url, signal: neverAborts })).rejects.toThrow("the server does not speak TLS");
  });
});

describe("a timeout:", () => {
  test.for([
    [
      "a name server that does not answer",
      10_000,
      "the address of site.example was not found within 10000 ms",
      { resolveHost: () => new Promise<never>(() => {}) },
    ],
    ["a server that does not respond", 15_000, "did not respond within 15000 ms", {}],
  ] as const)("%s", async ([, ms, message, options]) => {
    const clock = createSimulatedClock();
    await using site = await serve(() => {});
    const response = get(site.port, "/", { clock, ...options });
    const failed = expect(response).rejects.toMatchObject({
      message: expect.stringContaining(message),
      runError: { type: "timeout", recoverable: true },
    });
    if (!("resolveHost" in options)) await vi.waitUntil(() => site.requests.length === 1);
    await flushIo();
    clock.advance(ms);
    await failed;
  });

  test("a server that sends one byte at a time", async () => {
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
    const failed = expect(get(site.port, "/", { clock })).rejects.toThrow(
      "did not send its whole response within 30000 ms",
    );
    await vi.waitUntil(() => site.requests.length === 1);
    await flushIo();
    for (let second = 0; second < 30; second += 1) {
      clock.advance(1_000);
      await flushIo();
    }
    await failed;
    await vi.waitUntil(() => isClosed);
  });

  test("a caller that cancels", async () => {
    const abort = new AbortController();
    await using site = await serve(() => abort.abort());
    await expect(get(site.port, "/", {}, abort.signal)).rejects.toMatchObject({ runError: { type: "cancelled" } });
    await expect(get(site.port, "/", {}, abort.signal)).rejects.toMatchObject({ runError: { type: "cancelled" } });
    expect(site.connections).toBe(1);
  });

  /** Waits until the client has processed the received bytes. */
  async function flushIo(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
});
