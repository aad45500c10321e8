import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { StandardAccount } from "../standard-options.ts";
import { createDavClient } from "./dav-client.ts";

/** The real library over a socket. The long run of test/conformance has a real server. */
interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function startServer(answer: { status: number; body?: string; headers?: Record<string, string> }) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      received.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(answer.status, { "content-type": "application/xml", ...answer.headers }).end(answer.body);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ana/work/`;
  const account = StandardAccount.parse({
    user: { name: "Ana", address: "ana@acme.example" },
    ...{ username: "ana", password: "p:1", caldav: url, timeoutMs: 20_000 },
  });
  return { received, url, client: createDavClient(account, "caldav") };
}

const data = "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n";

describe("an object", () => {
  test("of a new name is stored only if the name is free", async () => {
    const { client, url, received } = await startServer({ status: 201 });
    expect(await client.put({ url: `${url}1.ics`, data, etag: null })).toBe(true);
    expect(received).toMatchObject([{ method: "PUT", path: "/ana/work/1.ics", body: data }]);
    expect(received[0]?.headers["if-none-match"]).toBe("*");
    expect(received[0]?.headers).not.toHaveProperty("if-match");
    expect(received[0]?.headers["content-type"]).toBe("text/calendar; charset=utf-8");
  });

  test("is changed and deleted only in the version that was read", async () => {
    const { client, url, received } = await startServer({ status: 204 });
    expect(await client.put({ url: `${url}1.ics`, data, etag: '"7"' })).toBe(true);
    expect(await client.remove({ url: `${url}1.ics`, etag: '"7"' })).toBe(true);
    expect(received.map(({ method, headers }) => [method, headers["if-match"]])).toEqual([
      ["PUT", '"7"'],
      ["DELETE", '"7"'],
    ]);
    expect(received[0]?.headers).not.toHaveProperty("if-none-match");
  });

  test.for([404, 409, 412])(
    "that another program changed first (%s) is not stored, and not deleted",
    async (status) => {
      const { client, url } = await startServer({ status });
      expect(await client.put({ url: `${url}1.ics`, data, etag: '"7"' })).toBe(false);
      expect(await client.remove({ url: `${url}1.ics`, etag: '"7"' })).toBe(false);
    },
  );

  test("that the server refuses is an error", async () => {
    const { client, url } = await startServer({ status: 400 });
    await expect(client.put({ url: `${url}1.ics`, data, etag: null })).rejects.toMatchObject({ type: "tool_error" });
  });
});

test("each call has the user and the password", async () => {
  const { client, url, received } = await startServer({ status: 201 });
  await client.put({ url: `${url}1.ics`, data, etag: null });
  expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from("ana:p:1").toString("base64")}`);
});

test("the versions of a collection are those of its objects, by their whole URLs", async () => {
  const body = `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${[
    ["/ana/work/", '"0"', "<d:collection/>"],
    ["/ana/work/1.ics", '"7"', ""],
    ["/ana/work/2.ics", "42", ""],
  ]
    .map(
      ([href, etag, type]) =>
        `<d:response><d:href>${href}</d:href><d:propstat><d:prop><d:getetag>${etag}</d:getetag>` +
        `<d:resourcetype>${type}</d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`,
    )
    .join("")}</d:multistatus>`;
  const { client, url, received } = await startServer({ status: 207, body });
  const etags = await client.etags({ url, name: "work", ctag: null });
  expect([...etags]).toEqual([
    [`${url}1.ics`, '"7"'],
    [`${url}2.ics`, "42"],
  ]);
  expect(received).toMatchObject([{ method: "PROPFIND", path: "/ana/work/", headers: { depth: "1" } }]);
});
