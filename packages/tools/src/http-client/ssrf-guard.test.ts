// A URL comes from a model, and often from a page that the model has read. Whatever is behind this machine's back must
// hear nothing of it: no connection, not even one that is closed at once. The canary listens where it must not be heard.
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { dial } from "./dial.ts";
import { createWebClient } from "./http-client.ts";
import { patient, publicAddress, serve, type TestServer, testWeb } from "./servers.fixture.ts";
import { parseWebUrl } from "./ssrf-guard.ts";

let canary: TestServer;
let canary6: TestServer | null = null;

beforeAll(async () => {
  canary = await serve((_request, response) => response.end("the canary sings"), "0.0.0.0");
  canary6 = await serve((_request, response) => response.end("the canary sings"), "::1").catch(() => null);
});

afterAll(async () => {
  await canary[Symbol.asyncDispose]();
  await canary6?.[Symbol.asyncDispose]();
});

/** Asks for a URL, with `PORT` in it for the canary's, and tells what became of it. */
async function asked(text: string, web = testWeb()): Promise<{ failure: string; dialled: number; sung: number }> {
  const before = canary.connections + (canary6?.connections ?? 0);
  const port = text.includes("[::1]") && canary6 ? canary6.port : canary.port;
  const failure = await (async () => {
    const url = parseWebUrl(text.replaceAll("PORT", String(port)));
    const answer = await web.ask({ url, signal: patient });
    return `answered: ${answer.body}`;
  })().catch((error: unknown) => String(error));
  return { failure, dialled: web.dialled.length, sung: canary.connections + (canary6?.connections ?? 0) - before };
}

test("the canary sings where it is allowed to", async () => {
  const web = testWeb({ policy: { privateHosts: [`127.0.0.1:${canary.port}`] } });
  expect(await asked("http://127.0.0.1:PORT/", web)).toEqual({
    failure: "answered: the canary sings",
    dialled: 1,
    sung: 1,
  });
});

describe("addresses, however they are written:", () => {
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
    const { failure, dialled, sung } = await asked(url);
    expect(failure).toMatch(/no public address/);
    expect({ dialled, sung }).toEqual({ dialled: 0, sung: 0 });
  });
});

describe("URLs that are not what they seem, or none:", () => {
  test.for([
    ["http://example.com@127.0.0.1:PORT/", "user or password"],
    ["http://127.0.0.1:PORT@example.com:x/", "is no URL"],
    ["http://user:secret@site.example/", "user or password"],
    ["http://[fe80::1%25lo]:PORT/", "is no URL"],
    ["http://[::1%lo]:PORT/", "is no URL"],
    ["http://127.0.0.1\\@example.com:PORT/", "is no URL|no public address"],
    ["http://256.0.0.1:PORT/", "is no URL"],
    ["http:///127.0.0.1:PORT/", "no public address"],
    ["http:127.0.0.1:PORT", "no public address"],
    ["file:///etc/passwd", "only http and https"],
    ["ftp://127.0.0.1:PORT/", "only http and https"],
    ["gopher://127.0.0.1:PORT/_x", "only http and https"],
    ["javascript:alert(1)", "only http and https"],
    ["data:text/html,hello", "only http and https"],
    ["//127.0.0.1:PORT/", "is no URL"],
    ["http://site.example:22/", "no web server listens"],
    ["http://site.example:6667/", "no web server listens"],
    ["http://site.example:0/", "no web server listens"],
  ])("%s", async ([url = "", message = ""]) => {
    const { failure, dialled, sung } = await asked(url);
    expect(failure).toMatch(new RegExp(message));
    expect(failure).not.toContain("secret");
    expect({ dialled, sung }).toEqual({ dialled: 0, sung: 0 });
  });
});

describe("names that lead inside:", () => {
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
    const { failure, dialled, sung } = await asked(url, testWeb({ names }));
    expect(failure).toMatch(/no public address|cannot be found/);
    expect({ dialled, sung }).toEqual({ dialled: 0, sung: 0 });
  });

  test.for(["localhost", "localhost.", "LOCALHOST", "ip6-localhost", "some.localhost"])(
    "%s, by the machine's own resolver",
    async (name) => {
      const { resolve: _ours, ...options } = testWeb().options;
      const ask = createWebClient(options);
      const before = canary.connections;
      const url = new URL(`http://${name}:${canary.port}/`);
      await expect(ask({ url, signal: patient })).rejects.toThrow(/no public address|cannot be found/);
      expect(canary.connections - before).toBe(0);
    },
  );

  test("this machine's own address, however public it is", async () => {
    const really = os.networkInterfaces;
    const own = { address: publicAddress, family: "IPv4" } as os.NetworkInterfaceInfo;
    os.networkInterfaces = () => ({ eth0: [own] });
    syncBuiltinESMExports();
    onTestFinished(() => {
      os.networkInterfaces = really;
      syncBuiltinESMExports();
    });

    for (const host of [publicAddress, "[::ffff:5db8:d822]", "site.example"]) {
      const web = testWeb({ sites: { "site.example": canary.port } });
      expect(await asked(`http://${host}/`, web)).toEqual({
        failure: expect.stringContaining("this machine's own"),
        dialled: 0,
        sung: 0,
      });
    }
  });
});

test("a name that leads elsewhere the second time is asked about once", async () => {
  await using site = await serve((_request, response) => response.end("the site"));
  const names = { "rebind.example": [[publicAddress], ["127.0.0.1"], ["127.0.0.1"]] };
  const web = testWeb({ names, sites: { "rebind.example": site.port } });

  expect(await asked("http://rebind.example:PORT/", web)).toEqual({
    failure: "answered: the site",
    dialled: 1,
    sung: 0,
  });
  expect(web.resolved).toEqual(["rebind.example"]);
  // Asked for again, it is checked again.
  expect(await asked("http://rebind.example:PORT/", web)).toMatchObject({
    failure: expect.stringContaining("no public address"),
    dialled: 1,
    sung: 0,
  });
});

test("what is connected to are the addresses that were checked", async () => {
  await using site = await serve((_request, response) => response.end("the site"));
  const url = new URL(`http://never-resolved.invalid:${site.port}/`);
  const socket = dial({ url, host: url.hostname, port: site.port, addresses: ["127.0.0.1"] });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  expect(socket.remoteAddress).toBe("127.0.0.1");
  socket.destroy();
});

describe("redirects to the inside are not followed:", () => {
  const places = [
    "http://127.0.0.1:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://inside.example:PORT/",
    "//0x7f.1:PORT/x",
  ];
  const statuses = [301, 302, 303, 307, 308];
  test.for(statuses.flatMap((status) => places.map((place) => ({ status, place }))))(
    "$status to $place",
    async ({ status, place }) => {
      await using site = await serve((_request, response) => {
        response.writeHead(status, { location: place.replaceAll("PORT", String(canary.port)) }).end();
      });
      const web = testWeb({ sites: { "site.example": site.port }, names: { "inside.example": [["127.0.0.1"]] } });

      const { failure, dialled, sung } = await asked("http://site.example/", web);

      expect(failure).toMatch(/no public address/);
      expect({ dialled, sung }).toEqual({ dialled: 1, sung: 0 });
    },
  );

  test("nor are those that only a browser would follow", async () => {
    const inside = `http://127.0.0.1:${canary.port}/`;
    await using site = await serve((_request, response) => {
      response.setHeader("refresh", `0; url=${inside}`);
      response.setHeader("link", `<${inside}>; rel=preload`);
      response.setHeader("content-location", inside);
      response.setHeader("content-type", "text/html");
      response.end(
        `<meta http-equiv="refresh" content="0; url=${inside}"><script src="${inside}"></script><img src="${inside}">`,
      );
    });
    const web = testWeb({ sites: { "site.example": site.port } });
    expect(await asked("http://site.example/", web)).toMatchObject({ dialled: 1, sung: 0 });
  });

  test("from one site to the next, until one is inside", async () => {
    await using site = await serve((request, response) => {
      const next = Number(new URL(request.url ?? "", "http://x").searchParams.get("n")) + 1;
      const location = next === 4 ? `http://127.0.0.1:${canary.port}/` : `http://site.example/?n=${next}`;
      response.writeHead(302, { location }).end();
    });
    const web = testWeb({ sites: { "site.example": site.port } });
    expect(await asked("http://site.example/?n=0", web)).toMatchObject({
      failure: expect.stringContaining("no public address"),
      dialled: 4,
      sung: 0,
    });
  });
});

describe("what the owner says of hosts:", () => {
  const names = { "wiki.example": [["127.0.0.1"]], "evil.example": [["127.0.0.1"]] };

  test.for([
    ["wiki.example", "http://wiki.example:PORT/", true],
    ["wiki.example:PORT", "http://wiki.example:PORT/", true],
    ["WIKI.example.", "http://wiki.example:PORT/", true],
    ["wiki.example:1", "http://wiki.example:PORT/", false],
    // The name was allowed, not whatever leads to the same address.
    ["wiki.example", "http://evil.example:PORT/", false],
    ["127.0.0.1", "http://evil.example:PORT/", false],
    ["example", "http://wiki.example:PORT/", false],
    ["127.0.0.1", "http://2130706433:PORT/", true],
    ["127.0.0.1", "http://127.0.0.2:PORT/", false],
  ] as const)("%s allowed, %s: %s", async ([rule, url, isAnswered]) => {
    const policy = { privateHosts: [rule.replace("PORT", String(canary.port))] };
    const { failure, sung } = await asked(url, testWeb({ names, policy }));
    expect(failure).toMatch(isAnswered ? /^answered/ : /no public address/);
    expect(sung).toBe(isAnswered ? 1 : 0);
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
    expect(await asked(url, web)).toMatchObject({ failure: expect.stringContaining("denies it"), dialled: 0, sung: 0 });
  });

  test("a rule that names no host stops everything", () => {
    expect(() => testWeb({ policy: { privateHosts: ["http://x/y"] } })).toThrow(/names no host/);
    expect(() => testWeb({ policy: { deny: ["*.example"] } })).toThrow(/names no host/);
  });
});
