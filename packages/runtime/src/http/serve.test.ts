import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { HttpServer } from "./serve.ts";
import { createFakeService, serveFake } from "./service.fixture.ts";
import { clientHeaders, errorOf, gate, open, send, type WireResponse } from "./wire.fixture.ts";

describe("the port", () => {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  it("is the next free one if the requested port is taken, and the result says so", async () => {
    const taken = await occupy();
    const server = await serve(taken);
    expect(server.requestedPort).toBe(taken);
    expect(server.port).toBeGreaterThan(taken);
    expect(server.port).toBeLessThanOrEqual(taken + 20);
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect((await send(server.port, { path: "/api/v1/status", headers: clientHeaders(server.port) })).status).toBe(200);
  });

  it.each([
    ["the head", "GET /api/v1/status HTTP/1.1\r\n"],
    ["the body", "POST /api/v1/login HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 10\r\n\r\n{"],
  ])("is not held by a client that never sends the rest of %s", async (_, beginning) => {
    const server = await serveFake(createFakeService(), { receiveTimeoutMs: 300 });
    stops.push(() => server.close());
    const socket = connect(server.port, "127.0.0.1");
    socket.write(beginning.replace("PORT", String(server.port)));
    socket.resume();
    await once(socket, "close");
    expect((await send(server.port, { path: "/api/v1/status", headers: clientHeaders(server.port) })).status).toBe(200);
  });

  it("takes no more connections than allowed, and goes on when one ends", async () => {
    const server = await serveFake(createFakeService(), { connectionsMax: 2 });
    stops.push(() => server.close());
    const sockets = await Promise.all(
      [1, 2].map(async () => {
        const socket = connect(server.port, "127.0.0.1");
        socket.resume();
        await once(socket, "connect");
        return socket;
      }),
    );
    const third = connect(server.port, "127.0.0.1");
    third.resume();
    await once(third, "close");
    // The limit closes it, not a timeout, which would close the older ones first.
    expect(sockets.map(({ closed }) => closed)).toEqual([false, false]);
    for (const socket of sockets) socket.destroy();
    await Promise.all(sockets.map((socket) => once(socket, "close")));
    const status = { path: "/api/v1/status", headers: clientHeaders(server.port) };
    await vi.waitFor(async () => expect((await send(server.port, status)).status).toBe(200), 10_000);
  });

  it("is free again after closing", async () => {
    const first = await serve(0);
    await first.close();
    expect((await serve(first.port)).port).toBe(first.port);
  });

  it.each([-1, 1.5, 65_536, Number.NaN])("cannot be %d", async (port) => {
    await expect(serve(port)).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining(String(port)) });
  });

  async function serve(port: number): Promise<HttpServer> {
    const server = await serveFake(createFakeService(), { port });
    stops.push(() => server.close());
    return server;
  }

  async function occupy(): Promise<number> {
    const server: Server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    stops.push(async () => once(server.close(), "close"));
    return (server.address() as AddressInfo).port;
  }
});

it.each(["0.0.0.0", "::", "192.168.1.2", "example.com", "127.0.0.2", ""])("refuses to serve on %j", async (host) => {
  const error = await serveFake(createFakeService(), { host }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "USAGE", message: expect.stringContaining(host), fix: expect.any(String) });
});

it("lets a request in flight finish while it closes", async () => {
  const service = createFakeService();
  const { status } = service;
  const [asked, release] = [gate(), gate()];
  service.status = async () => {
    asked.open();
    await release.opened;
    return status();
  };
  const server = await serveFake(service);
  const answer = send(server.port, { path: "/api/v1/status", headers: clientHeaders(server.port) });
  await asked.opened;
  const closed = server.close();
  release.open();
  expect((await answer).status).toBe(200);
  await closed;
});

describe("the dashboard", () => {
  let home: string;
  let server: HttpServer;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "troupe-assets-"));
    await mkdir(join(home, "dist", "assets"), { recursive: true });
    await writeFile(join(home, "secret.txt"), "classified");
    await writeFile(join(home, "dist", "index.html"), "<title>troupe</title>");
    await writeFile(join(home, "dist", "favicon.svg"), "<svg/>");
    await writeFile(join(home, "dist", "assets", "index-BX2a3f_9.js"), "run()");
    await symlink(join(home, "secret.txt"), join(home, "dist", "link.txt"));
    server = await serveFake(createFakeService(), { assets: join(home, "dist") });
  });
  afterAll(async () => {
    await server.close();
    await rm(home, { recursive: true });
  });

  it.each([
    ["/", "<title>troupe</title>", "text/html; charset=utf-8", "no-cache"],
    ["/index.html", "<title>troupe</title>", "text/html; charset=utf-8", "no-cache"],
    ["/favicon.svg", "<svg/>", "image/svg+xml; charset=utf-8", "no-cache"],
    ["/assets/index-BX2a3f_9.js", "run()", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"],
    ["/assets/index-BX2a3f_9.js?v=1", "run()", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"],
  ])("serves %s without the token", async (path, text, type, cacheControl) => {
    const answer = await get(path);
    expect([answer.status, answer.text]).toEqual([200, text]);
    expect(answer.headers).toMatchObject({ "content-type": type, "cache-control": cacheControl });
  });

  it("serves its page at its inner paths to a client that accepts HTML", async () => {
    expect((await get("/sessions/1", { Accept: "text/html,*/*" })).text).toBe("<title>troupe</title>");
    expect((await get("/sessions/1", { Accept: "application/json" })).status).toBe(404);
    expect((await get("/assets/old-12345678.js")).status).toBe(404);
  });

  it.each([
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/assets/../../secret.txt",
    "/assets/..%5c..%5csecret.txt",
    "/assets//../../secret.txt",
    "//etc/passwd",
    "/link.txt",
    "/index.html%00.js",
    "/index.html/",
    "/assets",
    "/constructor",
    "/%",
  ])("cannot be left by %s", async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.text.includes("classified")]).toEqual([404, false]);
  });

  it("is not changed by other methods", async () => {
    const answer = await send(server.port, {
      method: "PUT",
      path: "/index.html",
      headers: clientHeaders(server.port),
      body: "x",
    });
    expect([answer.status, errorOf(answer).code]).toEqual([404, "USAGE"]);
  });

  it("shows a page that says so if it is not built", async () => {
    const bare = await serveFake(createFakeService());
    const answer = await send(bare.port, { path: "/", headers: clientHeaders(bare.port) });
    await bare.close();
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(answer.text).toContain("not built");
  });

  function get(path: string, headers: Record<string, string> = {}): Promise<WireResponse> {
    return send(server.port, { path, headers: { Host: `127.0.0.1:${server.port}`, ...headers } });
  }
});

it("ends event streams at once when it closes", async () => {
  const service = createFakeService();
  const server = await serveFake(service);
  const stream = await open(server.port, { path: "/api/v1/events", headers: clientHeaders(server.port) });
  const ended = once(stream.resume(), "end");
  await server.close();
  await ended;
  expect(service.listeners()).toBe(0);
});
