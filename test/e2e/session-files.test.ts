/** People exchange files with the agents of a session: by the commands that they type, over the API of a daemon process. */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { RunResponse } from "@troupe/core";
import { hashBytes, sessionFileBytesMax } from "@troupe/core/internal";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { startKillableScriptedDaemon, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const clerk = "---\ndescription: d\ntools: [workbench_download, workbench_upload]\n---\n\nDo it.\n";
const download = (remote_path: string, local_path: string) => ({
  tool: "workbench_download",
  args: { remote_path, local_path },
});
const agents: Agents = {
  clerk: [
    {
      when: { continued: true },
      steps: [
        { calls: [download("in/every.bin", "every.bin"), download("../../x", "x.bin")] },
        { calls: [{ tool: "workbench_upload", args: { local_path: "every.bin", remote_path: "../../back" } }] },
        { text: "Fetched and returned." },
      ],
    },
    { steps: [{ text: "Ready." }] },
  ],
};

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

const options = (test: TestContext) => ({ test, agents, files: { "agents/clerk.md": clerk } });

/** A settled session of a daemon, and a folder of the person. */
async function startSession(test: TestContext) {
  const daemon = await startScriptedDaemon(options(test));
  return { daemon, ...(await settleSession(test, daemon.home)) };
}

/** The same with a daemon that the test kills. */
async function startKillableSession(test: TestContext) {
  const daemon = await startKillableScriptedDaemon(options(test));
  return { daemon, ...(await settleSession(test, daemon.home)) };
}

async function settleSession(test: TestContext, home: string) {
  const folder = await tempFolder("session-files", test);
  const workspace = await tempFolder("session-files-work", test);
  const cli = (...args: string[]) => troupe(args, { home, cwd: folder });
  const started = await cli("run", "--json", "--agent", "clerk", "--workspace", workspace, "get ready");
  const { sessionId: session } = RunResponse.parse(JSON.parse(started.stdout));
  const sessions = (...args: string[]) => cli("sessions", ...args);
  return { home, workspace, session, cli, sessions, at: (name: string) => path.join(folder, name) };
}

interface Recorded {
  method: string;
  url: string;
  body: string;
}

/** Puts a server between the command line and the daemon that records every request. */
async function recordRequests(test: TestContext, home: string, daemonUrl: string): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  const server: Server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const body = (await buffer(request)).toString("latin1");
    recorded.push({ method, url, body });
    const reply = await fetch(`${daemonUrl}${url}`, {
      method,
      headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
      ...(method === "GET" ? {} : { body }),
    });
    response.writeHead(reply.status, { "content-type": "application/json" }).end(await reply.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const file = path.join(home, "owner.json");
  const { port } = server.address() as AddressInfo;
  await writeFile(file, (await readFile(file, "utf8")).replace(daemonUrl, `http://127.0.0.1:${port}`));
  return recorded;
}

describe.concurrent("files of a session", () => {
  it("travel as base64 with their digest, and arrive byte for byte", async (test) => {
    const { expect } = test;
    const { daemon, home, session, sessions, at } = await startSession(test);
    const random = randomBytes(5 * 1024 * 1024);
    await writeFile(at("every.bin"), everyByte);
    await writeFile(at("random.bin"), random);
    const recorded = await recordRequests(test, home, daemon.url);
    const short = session.slice(0, 12);
    expect(await sessions("upload", short, "every.bin", "in/every.bin")).toMatchObject({ code: 0, stderr: "" });
    const uploaded = await sessions("upload", session, "random.bin", "--json");
    const facts = { name: "random.bin", bytes: random.length, sha256: hashBytes(random) };
    expect(JSON.parse(uploaded.stdout)).toMatchObject({ ...facts, run: null, by: expect.any(String) });

    const puts = recorded.filter(({ method }) => method === "PUT");
    expect(puts.map(({ url }) => url)).toEqual(Array(2).fill(`/api/v1/sessions/${session}/files`));
    const bodies = puts.map(({ body }) => JSON.parse(body));
    expect(bodies[0].content).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    for (const [i, bytes] of [everyByte, random].entries()) {
      expect(bodies[i].content === bytes.toString("base64")).toBe(true);
      expect(bodies[i].sha256).toBe(hashBytes(bytes));
    }

    expect(await sessions("download", short, "in/every.bin", "copy.bin")).toMatchObject({ code: 0, stderr: "" });
    const got = await sessions("download", session, "random.bin", "again.bin", "--json");
    expect(JSON.parse(got.stdout)).toEqual({ ...facts, path: at("again.bin") });
    expect(await readFile(at("copy.bin"))).toEqual(everyByte);
    expect((await readFile(at("again.bin"))).equals(random)).toBe(true);
    const listed = await sessions("files", short);
    expect(listed.stdout).toMatch(/NAME +SIZE +SHA256 +BY +AGE\n.*in\/every\.bin +256.*\n.*random\.bin +5/);
  });

  it("reach the runs of the session and come back, also after a kill of the daemon", async (test) => {
    const { expect } = test;
    const { daemon, home, workspace, session, cli, sessions, at } = await startKillableSession(test);
    const random = randomBytes(100_000);
    await writeFile(at("every.bin"), everyByte);
    await writeFile(at("x"), random);
    await sessions("upload", session, "every.bin", "in/every.bin");
    expect((await sessions("upload", session, "x", "../../x")).code).toBe(0);
    await daemon.kill();
    expect(await sessions("files", session)).toMatchObject({ code: 5, stderr: expect.stringContaining("troupe up") });
    await daemon.startAgain();
    const listed = JSON.parse((await sessions("files", session, "--json")).stdout);
    expect(listed).toMatchObject([
      { name: "../../x", bytes: random.length, sha256: hashBytes(random), run: null },
      { name: "in/every.bin", bytes: 256, sha256: hashBytes(everyByte), run: null },
    ]);

    const second = await cli("run", "--json", "--resume", session, "fetch it");
    const { status, runId } = RunResponse.parse(JSON.parse(second.stdout));
    expect(status).toBe("completed");
    expect(await readFile(path.join(workspace, "every.bin"))).toEqual(everyByte);
    expect((await readFile(path.join(workspace, "x.bin"))).equals(random)).toBe(true);

    const files = JSON.parse((await sessions("files", session, "--json")).stdout);
    expect(files[0]).toMatchObject({ name: "../../back", bytes: 256, run: runId, by: null });
    expect(await sessions("download", session, "../../back")).toMatchObject({ code: 0, stderr: "" });
    expect(await readFile(at("back"))).toEqual(everyByte);
    const outside = path.join(home, "..", "..", "x");
    expect(await stat(outside).catch(() => "missing")).toBe("missing");
  });

  it("overwrite a file of the person only with --force", async (test) => {
    const { expect } = test;
    const { session, sessions, at } = await startSession(test);
    await writeFile(at("a"), "from here");
    await sessions("upload", session, "a");
    await writeFile(at("a"), "precious");
    await symlink("missing", at("link"));
    for (const file of [[], ["a"], ["link"]]) {
      const refused = await sessions("download", session, "a", ...file);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--force") });
    }
    expect(await readFile(at("a"), "utf8")).toBe("precious");
    expect(await stat(at("missing")).catch(() => "missing")).toBe("missing");
    expect((await sessions("download", session, "a", "--force")).code).toBe(0);
    expect(await readFile(at("a"), "utf8")).toBe("from here");
  });

  it("are refused with a clear error, and nothing is stored", async (test) => {
    const { expect } = test;
    const { daemon, session, sessions, at } = await startSession(test);
    await mkdir(at("folder"));
    await writeFile(at("large"), "");
    await truncate(at("large"), sessionFileBytesMax + 1);
    await writeFile(at("a"), "hello");
    const outcomeOf = async (...args: string[]) => {
      const { code, stdout } = await sessions(...args, "--json");
      return [code, JSON.parse(stdout).error.code];
    };
    expect(await outcomeOf("upload", session, "missing")).toEqual([2, "USAGE"]);
    expect(await outcomeOf("upload", session, "folder")).toEqual([2, "USAGE"]);
    expect(await outcomeOf("upload", session, "/dev/null")).toEqual([2, "USAGE"]);
    expect(await outcomeOf("upload", session, "large")).toEqual([1, "TOO_LARGE"]);
    expect(await outcomeOf("upload", session, "a", "x".repeat(1_001))).toEqual([2, "USAGE"]);
    expect(await outcomeOf("upload", "ffff", "a")).toEqual([2, "UNKNOWN_SESSION"]);
    expect(await outcomeOf("download", session, "a")).toEqual([2, "UNKNOWN_FILE"]);
    expect(await outcomeOf("download", session, "..")).toEqual([2, "USAGE"]);

    const put = async (body: object) => {
      const response = await fetch(`${daemon.url}/api/v1/sessions/${session}/files`, {
        method: "PUT",
        headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "a", ...body }),
      });
      return `${response.status} ${JSON.parse(await response.text()).error.code}`;
    };
    expect(await put({ content: "AP8=\n" })).toBe("400 USAGE");
    expect(await put({ content: "AP8=", sha256: hashBytes(everyByte) })).toBe("400 USAGE");
    expect(await put({ content: "AP8=", name: "a\0" })).toBe("400 USAGE");
    expect(await put({ content: Buffer.alloc(sessionFileBytesMax + 1).toString("base64") })).toBe("413 TOO_LARGE");
    expect(JSON.parse((await sessions("files", session, "--json")).stdout)).toEqual([]);
    expect(await readdir(path.join(daemon.home, "memory")).catch(() => [])).toEqual([]);
    await rm(at("large"));
  });
});
