import { createServer } from "node:http";
import { hashBytes, sessionFileBytesMax } from "@troupe/core/internal";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createHttpClient } from "./client.ts";
import { uploadBytesMax } from "./contract/session-file-contract.ts";
import { listen } from "./http-server.ts";
import type { HttpServer } from "./serve.ts";
import { createFakeService, serveFake, sessionA, sessionB, token } from "./service.fixture.ts";
import { clientHeaders, errorOf, send, type WireResponse } from "./wire.fixture.ts";

const service = createFakeService();
let server: HttpServer;
beforeAll(async () => {
  server = await serveFake(service);
});
afterAll(() => server.close());
beforeEach(() => {
  service.commands.length = 0;
});

const files = `/api/v1/sessions/${sessionA}/files`;
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

function ask(method: string, path: string, body?: unknown): Promise<WireResponse> {
  const headers = clientHeaders(server.port);
  return send(server.port, { method, path, headers, ...(method === "GET" ? {} : { body: JSON.stringify(body) }) });
}

async function outcomeOf(method: string, path: string, body?: unknown): Promise<string> {
  const answer = await ask(method, path, body);
  return `${answer.status} ${errorOf(answer).code}`;
}

describe("the routes of a session's files", () => {
  it("list, store and return files, whose bytes are base64", async () => {
    const list = JSON.parse((await ask("GET", files)).text);
    expect(list).toMatchObject({ files: [{ name: "a.bin", bytes: 2, run: sessionA, by: null }] });
    const upload = { name: "b", content: everyByte.toString("base64"), sha256: hashBytes(everyByte), by: "ada" };
    const put = await ask("PUT", files, upload);
    expect([put.status, JSON.parse(put.text)]).toMatchObject([200, { name: "b", bytes: 256, sha256: upload.sha256 }]);
    expect(service.commands).toEqual([`put "b" ${everyByte.toString("hex")} ada`]);
    const got = JSON.parse((await ask("GET", `${files}/content?name=a.bin`)).text);
    expect(got).toEqual({ name: "a.bin", bytes: 2, sha256: hashBytes(Buffer.from([0, 255])), content: "AP8=" });
  });

  it("need neither a digest nor a name of the person, and take an empty file", async () => {
    expect((await ask("PUT", files, { name: "../../x", content: "" })).status).toBe(200);
    expect(service.commands).toEqual(['put "../../x"  a person']);
  });

  it.each([
    ["a line break", "AP8=\n"],
    ["no padding", "AP8"],
    ["padding inside", "AP8=AP8="],
    ["the other alphabet", "-_8="],
    ["bits that no byte has", "AP9="],
    ["another character", "AP8!"],
    ["text", "hello"],
  ])("refuse content that is not base64: %s", async (_, content) => {
    expect(await outcomeOf("PUT", files, { name: "a", content })).toBe("400 USAGE");
    expect(service.commands).toEqual([]);
  });

  it.each([
    ["another digest", { name: "a", content: "AP8=", sha256: hashBytes(everyByte) }],
    ["a digest that is none", { name: "a", content: "AP8=", sha256: "AP8=" }],
    ["a NUL in a name", { name: "a\0b", content: "AP8=" }],
    ["an empty name", { name: "", content: "AP8=" }],
    ["a long name", { name: "x".repeat(1_001), content: "AP8=" }],
    ["no name", { content: "AP8=" }],
    ["no content", { name: "a" }],
    ["a number as content", { name: "a", content: 1 }],
    ["another field", { name: "a", content: "AP8=", path: "/etc/passwd" }],
  ])("refuse an invalid upload: %s", async (_, body) => {
    expect(await outcomeOf("PUT", files, body)).toBe("400 USAGE");
    expect(service.commands).toEqual([]);
  });

  it("take the largest file under the longest name, and refuse a larger body", async () => {
    const content = Buffer.alloc(sessionFileBytesMax).toString("base64");
    // JSON writes a control character with six bytes.
    expect((await ask("PUT", files, { name: "\u0001".repeat(1_000), content })).status).toBe(200);
    expect(service.commands.map((command) => command.length > 2 * sessionFileBytesMax)).toEqual([true]);
    const larger = { name: "a", content: "A".repeat(uploadBytesMax) };
    expect(await outcomeOf("PUT", files, larger)).toBe("413 TOO_LARGE");
    expect(service.commands).toHaveLength(1);
  });

  it.each([
    ["GET", `/api/v1/sessions/${sessionB}/files`, "404 UNKNOWN_SESSION"],
    ["PUT", `/api/v1/sessions/${sessionB}/files`, "404 UNKNOWN_SESSION"],
    ["GET", `/api/v1/sessions/${sessionB}/files/content?name=a.bin`, "404 UNKNOWN_SESSION"],
    ["PUT", "/api/v1/sessions/..%2Fx/files", "404 UNKNOWN_SESSION"],
    ["GET", `${files}/content?name=b.bin`, "404 UNKNOWN_FILE"],
    ["GET", `${files}/content?name=a%00b`, "400 USAGE"],
    ["GET", `${files}/content`, "400 USAGE"],
  ])("answer clearly: %s %s is %s", async (method, path, outcome) => {
    expect(await outcomeOf(method, path, { name: "a", content: "AP8=" })).toBe(outcome);
    expect(service.commands).toEqual([]);
  });

  it("answer clearly in a process without files of sessions", async () => {
    const bare = await serveFake({ ...service, sessionFiles: undefined });
    const answer = await send(bare.port, { path: files, headers: clientHeaders(bare.port) });
    await bare.close();
    expect([answer.status, errorOf(answer).code]).toEqual([400, "USAGE"]);
  });
});

describe("the client", () => {
  it("stores and returns the same bytes", async () => {
    const { sessionFiles } = createHttpClient({ url: server.url, token });
    expect((await sessionFiles.list(sessionA)).map(({ name }) => name)).toEqual(["a.bin"]);
    const row = await sessionFiles.put(sessionA, { name: "b", bytes: everyByte, by: "ada" });
    expect(row).toMatchObject({ bytes: 256, sha256: hashBytes(everyByte), run: null, by: "ada" });
    expect(service.commands).toEqual([`put "b" ${everyByte.toString("hex")} ada`]);
    expect(await sessionFiles.get(sessionA, "a.bin")).toMatchObject({ bytes: Buffer.from([0, 255]) });
  });

  it("refuses a download whose bytes do not match their digest", async () => {
    const reply = { name: "a", bytes: 2, sha256: hashBytes(everyByte), content: "AP8=" };
    const other = createServer((_, response) => response.end(JSON.stringify(reply)));
    const port = await listen(other, "127.0.0.1", 0);
    const { sessionFiles } = createHttpClient({ url: `http://127.0.0.1:${port}`, token });
    const getting = sessionFiles.get(sessionA, "a");
    await expect(getting).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
  });
});
