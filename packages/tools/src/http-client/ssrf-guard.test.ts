// A URL comes from a model, and often from a page that the model has read. A private server must get no connection, not
// even one that closes at once. The canary is such a server: it answers every connection.
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openSocket } from "./exchange.ts";
import { createHttpClient } from "./http-client.ts";
import { neverAborts, publicAddress, serve, type TestServer, testWeb } from "./servers.fixture.ts";
import { parseWebUrl } from "./ssrf-guard.ts";

let canary: TestServer;
let canary6: TestServer | null = null;

beforeAll(async () => {
  canary = await serve((_request, response) => response.end("the canary answers"), "0.0.0.0");
  canary6 = await serve((_request, response) => response.end("the canary answers"), "::1").catch(() => null);
});

afterAll(async () => {
  await canary[Symbol.asyncDispose]();
  await canary6?.[Symbol.asyncDispose]();
});

/** Requests a URL, in which `PORT` is the canary's port. Counts the client's and the canary's connections. */
async function attempt(
  text: string,
  web = testWeb(),
): Promise<{ result: string; connected: number; canaryHits: number }> {
  const before = canary.connections + (canary6?.connections ?? 0);
  const port = text.includes("[::1]") && canary6 ? canary6.port : canary.port;
  const result = await (async () => {
    const url = parseWebUrl(text.replaceAll("PORT", String(port)));
    const response = await web.request({ url, signal: neverAborts });
    return `answered: ${response.body}`;
  })().catch((error: unknown) => String(error));
  return {
    result,
    connected: web.connected.length,
    canaryHits: canary.connections + (canary6?.connections ?? 0) - before,
  };
}

test("the canary answers where the policy allows it", async () => {
  const web = testWeb({ policy: { privateHosts: [`127.0.0.1:${canary.port}`] } });
  expect(await attempt("http://127.0.0.1:PORT/", web)).toEqual({
    result: "answered: the canary answers",
    connected: 1,
    canaryHits: 1,
  });
});

describe("private addresses in any notation:", () => {
  test.for([
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0x0.0x0.0x1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://017700000001:PORT/",
    "http://127.0x0.0.01:PORT/",
    "http://127.8.9.10:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0x0:PORT/",
    "http://１２７.０.０.１:PORT/",
    "http://127。0。0。1:PORT/",
    "http://127．0．0．1:PORT/",
    "http://127｡0｡0｡1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2001:0:7f00:1::]:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fd00:ec2::254]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://10.0.0.1/",
    "http://172.16.5.4/",
    "http://192.168.1.1/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://255.255.255.255/",
    "http://224.0.0.251:5353/",
  ])("%s", async (url) => {
    const { result, connected, canaryHits } = await attempt(url);
    expect(result).toMatch(/not a public address/);
    expect({ connected, canaryHits }).toEqual({ connected: 0, canaryHits: 0 });
  });
});

describe("misleading and invalid URLs:", () => {
  test.for([
    ["http://example.com@127.0.0.1:PORT/", "user or password"],
    ["http://127.0.0.1:PORT@example.com:x/", "is not a URL"],
    ["http://user:secret@site.example/", "user or password"],
    ["http://[fe80::1%25lo]:PORT/", "is not a URL"],
    ["http://[::1%lo]:PORT/", "is not a URL"],
    ["http://127.0.0.1\\@example.com:PORT/", "is not a URL|not a public address"],
    ["http://256.0.0.1:PORT/", "is not a URL"],
    ["http:///127.0.0.1:PORT/", "not a public address"],
    ["http:127.0.0.1:PORT", "not a public address"],
    ["file:///etc/passwd", "only http and https"],
    ["ftp://127.0.0.1:PORT/", "only http and https"],
    ["gopher://127.0.0.1:PORT/_x", "only http and https"],
    ["javascript:alert(1)", "only http and https"],
    ["data:text/html,hello", "only http and https"],
    ["//127.0.0.1:PORT/", "is not a URL"],
    ["http://site.example:22/", "is not a port of web servers"],
    ["http://site.example:6667/", "is not a port of web servers"],
    ["http://site.example:0/", "is not a port of web servers"],
  ])("%s", async ([url = "", message = ""]) => {
    const { result, connected, canaryHits } = await attempt(url);
    expect(result).toMatch(new RegExp(message));
    expect(result).not.toContain("secret");
    expect({ connected, canaryHits }).toEqual({ connected: 0, canaryHits: 0 });
  });
});

describe("names that resolve to private addresses:", () => {
  const names = {
    "inside.example": [["127.0.0.1"]],
    "mixed.example": [[publicAddress, "127.0.0.1"]],
    "mixed6.example": [[publicAddress, "::1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "nat64.example": [["64:ff9b::7f00:1"]],
    "zone.example": [["fe80::1%lo"]],
    "metadata.example": [["169.254.169.254"]],
    "nothing.example": [[]],
  };

  test.for([
    ...Object.keys(names).map((name) => `http://${name}:PORT/`),
    "http://inside.example.:PORT/",
    "http://INSIDE.example:PORT/",
    "http://inside。example:PORT/",
    "http://unknown.example:PORT/",
  ])("%s", async (url) => {
    const { result, connected, canaryHits } = await attempt(url, testWeb({ names }));
    expect(result).toMatch(/not a public address|cannot be resolved/);
    expect({ connected, canaryHits }).toEqual({ connected: 0, canaryHits: 0 });
  });

  test.for(["localhost", "localhost.", "LOCALHOST", "ip6-localhost", "some.localhost"])(
    "%s, with the resolver of the system",
    async (name) => {
      const { resolveHost: _resolveHost, ...options } = testWeb().options;
      const request = createHttpClient(options);
      const before = canary.connections;
      const url = new URL(`http://${name}:${canary.port}/`);
      await expect(request({ url, signal: neverAborts })).rejects.toThrow(/not a public address|cannot be resolved/);
      expect(canary.connections - before).toBe(0);
    },
  );

  test("a public address of this machine", async () => {
    const original = os.networkInterfaces;
    const own = { address: publicAddress, family: "IPv4" } as os.NetworkInterfaceInfo;
    os.networkInterfaces = () => ({ eth0: [own] });
    syncBuiltinESMExports();
    onTestFinished(() => {
      os.networkInterfaces = original;
      syncBuiltinESMExports();
    });

    for (const host of [publicAddress, "[::ffff:5db8:d822]", "site.example"]) {
      const web = testWeb({ sites: { "site.example": canary.port } });
      expect(await attempt(`http://${host}/`, web)).toEqual({
        result: expect.stringContaining("this machine's own"),
        connected: 0,
        canaryHits: 0,
      });
    }
  });
});

test("a request resolves a name once, against DNS rebinding", async () => {
  await using site = await serve((_request, response) => response.end("the site"));
  const names = { "rebind.example": [[publicAddress], ["127.0.0.1"], ["127.0.0.1"]] };
  const web = testWeb({ names, sites: { "rebind.example": site.port } });

  expect(await attempt("http://rebind.example:PORT/", web)).toEqual({
    result: "answered: the site",
    connected: 1,
    canaryHits: 0,
  });
  expect(web.resolved).toEqual(["rebind.example"]);
  // A second request resolves and checks the name again.
  expect(await attempt("http://rebind.example:PORT/", web)).toMatchObject({
    result: expect.stringContaining("not a public address"),
    connected: 1,
    canaryHits: 0,
  });
});

test("the socket connects to the checked addresses", async () => {
  await using site = await serve((_request, response) => response.end("the site"));
  const url = new URL(`http://never-resolved.invalid:${site.port}/`);
  const socket = openSocket({ url, host: url.hostname, port: site.port, addresses: ["127.0.0.1"] });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  expect(socket.remoteAddress).toBe("127.0.0.1");
  socket.destroy();
});

describe("redirects to private addresses are not followed:", () => {
  const locations = [
    "http://127.0.0.1:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://inside.example:PORT/",
    "//0x7f.1:PORT/x",
  ];
  const statuses = [301, 302, 303, 307, 308];
  test.for(statuses.flatMap((status) => locations.map((location) => ({ status, location }))))(
    "$status to $location",
    async ({ status, location: target }) => {
      await using site = await serve((_request, response) => {
        response.writeHead(status, { location: target.replaceAll("PORT", String(canary.port)) }).end();
      });
      const web = testWeb({ sites: { "site.example": site.port }, names: { "inside.example": [["127.0.0.1"]] } });

      const { result, connected, canaryHits } = await attempt("http://site.example/", web);

      expect(result).toMatch(/not a public address/);
      expect({ connected, canaryHits }).toEqual({ connected: 1, canaryHits: 0 });
    },
  );

  test("neither are redirects that only browsers follow", async () => {
    const privateUrl = `http://127.0.0.1:${canary.port}/`;
    await using site = await serve((_request, response) => {
      response.setHeader("refresh", `0; url=${privateUrl}`);
      response.setHeader("link", `<${privateUrl}>; rel=preload`);
      response.setHeader("content-location", privateUrl);
      response.setHeader("content-type", "text/html");
      response.end(
        `<meta http-equiv="refresh" content="0; url=${privateUrl}"><script src="${privateUrl}"></script><img src="${privateUrl}">`,
      );
    });
    const web = testWeb({ sites: { "site.example": site.port } });
    expect(await attempt("http://site.example/", web)).toMatchObject({ connected: 1, canaryHits: 0 });
  });

  test("a private address after several public redirects", async () => {
    await using site = await serve((request, response) => {
      const next = Number(new URL(request.url ?? "", "http://x").searchParams.get("n")) + 1;
      const location = next === 4 ? `http://127.0.0.1:${canary.port}/` : `http://site.example/?n=${next}`;
      response.writeHead(302, { location }).end();
    });
    const web = testWeb({ sites: { "site.example": site.port } });
    expect(await attempt("http://site.example/?n=0", web)).toMatchObject({
      result: expect.stringContaining("not a public address"),
      connected: 4,
      canaryHits: 0,
    });
  });
});

describe("the policy for hosts:", () => {
  const names = { "wiki.example": [["127.0.0.1"]], "evil.example": [["127.0.0.1"]] };

  test.for([
    ["wiki.example", "http://wiki.example:PORT/", true],
    ["wiki.example:PORT", "http://wiki.example:PORT/", true],
    ["WIKI.example.", "http://wiki.example:PORT/", true],
    ["wiki.example:1", "http://wiki.example:PORT/", false],
    // The rule allows the name, not every name with the same address.
    ["wiki.example", "http://evil.example:PORT/", false],
    ["127.0.0.1", "http://evil.example:PORT/", false],
    ["example", "http://wiki.example:PORT/", false],
    ["127.0.0.1", "http://2130706433:PORT/", true],
    ["127.0.0.1", "http://127.0.0.2:PORT/", false],
  ] as const)("%s allowed, %s: %s", async ([rule, url, isAnswered]) => {
    const policy = { privateHosts: [rule.replace("PORT", String(canary.port))] };
    const { result, canaryHits } = await attempt(url, testWeb({ names, policy }));
    expect(result).toMatch(isAnswered ? /^answered/ : /not a public address/);
    expect(canaryHits).toBe(isAnswered ? 1 : 0);
  });

  test.for([
    ["site.example", "http://site.example/"],
    ["site.example", "http://www.site.example/"],
    ["site.example", "http://SITE.example./"],
    ["example", "http://site.example/"],
    [publicAddress, "http://site.example/"],
    ["127.0.0.1", "http://127.0.0.1:PORT/"],
  ])("%s denied: %s", async ([rule = "", url = ""]) => {
    const sites = { "site.example": canary.port, "www.site.example": canary.port };
    const web = testWeb({ sites, policy: { deny: [rule], privateHosts: ["127.0.0.1"] } });
    expect(await attempt(url, web)).toMatchObject({
      result: expect.stringContaining("denies it"),
      connected: 0,
      canaryHits: 0,
    });
  });

  test("a rule that is not a host is an error", () => {
    expect(() => testWeb({ policy: { privateHosts: ["http://x/y"] } })).toThrow(/is not a host/);
    expect(() => testWeb({ policy: { deny: ["*.example"] } })).toThrow(/is not a host/);
  });
});
