/** Connections to real servers by real commands: which of them succeed, and the errors of the others. */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { openNatsLink } from "@troupe/nats";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { makeCertificates } from "../harness/certificates.ts";
import { troupe } from "../harness/cli.ts";
import { startDaemon } from "../harness/daemon.ts";
import { writeAgent } from "../harness/home-files.ts";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { saying } from "../harness/scenario-file.ts";
import { responseOf } from "../harness/session-queries.ts";
import { startTcpProxy } from "../harness/tcp-proxy.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { createTroupes } from "./troupes.fixture.ts";

const program = findNatsServer();
const up = ["up", "--json", "--no-open", "--port", "0"];
const answer = saying("Done.");
/** Options of a command that ends before it hosts a run. */
const refused = { ownProcess: false };

describe.skipIf(program === null)(program === null ? natsServerMissing : "a server", () => {
  let open: NatsServer;
  let guarded: NatsServer;
  beforeAll(async () => {
    open = await startNatsServer();
    guarded = await startNatsServer({ flags: ["--user", "ada", "--pass", "pass-of-ada"] });
  });
  afterAll(() => Promise.all([open.stop(), guarded.stop()]));

  const errorOf = (stdout: string) => JSON.parse(stdout).error as { code: string; message: string; fix: string };

  it("that does not exist: exit 5, with the address that was tried", async (test) => {
    const home = await tempFolder("connect", test);
    const gone = await startNatsServer();
    await gone.stop();
    const { code, stdout } = await troupe([...up, "--nats", gone.url], { home, ...refused });
    expect(code).toBe(5);
    expect(errorOf(stdout)).toMatchObject({ code: "UNREACHABLE", message: `no NATS server answers at ${gone.url}` });
    // A command that failed to start does not own the home.
    expect(await readdir(home)).not.toContain("owner.json");
  });

  it("without JetStream: exit 5, with the way to enable it", async (test) => {
    const home = await tempFolder("connect", test);
    const plain = await startNatsServer({ withoutJetStream: true });
    test.onTestFinished(() => plain.stop());
    const { code, stdout } = await troupe([...up, "--nats", plain.url], { home, ...refused });
    expect(code).toBe(5);
    expect(errorOf(stdout)).toMatchObject({
      code: "UNSUPPORTED_SERVER",
      fix: expect.stringContaining("nats-server -js"),
    });
  });

  it.for([
    ["daemon", up],
    ["worker", ["worker", "--json", "--agents", "all"]],
    ["look at its streams", ["nats", "check", "--json"]],
  ] as const)("that is too old, for a %s: exit 5, with the supported versions", async ([_who, command], test) => {
    const home = await tempFolder("connect", test);
    const wire = await asVersion("2.9.10", open, test);
    const { code, stdout } = await troupe([...command, "--nats", wire], { home, ...refused });
    expect(code).toBe(5);
    expect(errorOf(stdout)).toEqual({
      code: "UNSUPPORTED_SERVER",
      message: `the NATS server at ${wire} is 2.9.10: troupe needs 2.11 or later`,
      fix: "upgrade it, best to 2.11.16, 2.12.7, 2.14.0 or later",
    });
  });

  it("with known vulnerabilities: used, with a warning that names them", async (test) => {
    const troupes = await createTroupes(test, { url: await asVersion("2.11.9", open, test), agents: answer });
    const daemon = await troupes.daemon();
    const worker = await troupes.workerInProcess("all");
    await worker.ready;
    for (const output of [daemon.stderr(), worker.stderr()]) {
      expect(output).toContain("nats: nats-server 2.11.9 has known security holes (CVE-2025-30215, CVE-2026-27889");
    }
  });

  it("with authentication: exit 4 with wrong credentials, which appear in no output", async (test) => {
    const home = await tempFolder("connect", test);
    const env = { NATS_URL: guarded.url, NATS_USER: "ada", NATS_PASSWORD: "wrong-password" };
    const { code, stdout, stderr } = await troupe(up, { home, env, ...refused });
    expect(code).toBe(4);
    expect(errorOf(stdout)).toMatchObject({ code: "UNAUTHORIZED", message: expect.stringContaining(guarded.url) });
    expect(stdout + stderr).not.toContain("wrong-password");
  });

  it("accepts the credentials of a context, and two daemons see the same session", async (test) => {
    const troupes = await createTroupes(test, { url: guarded.url, agents: answer });
    const home = await tempFolder("connect", test);
    const context = path.join(home, "team.json");
    await writeFile(context, JSON.stringify({ url: guarded.url, user: "ada", password: "pass-of-ada" }));
    const inAddress = guarded.url.replace("//", "//ada:pass-of-ada@");
    const [one, other] = await Promise.all([
      troupes.daemon({ nats: ["--context", context] }),
      troupes.daemon({ nats: ["--nats", inAddress] }),
    ]);
    const { session } = await one.client.submit({ task: "go", origin: "api" });
    const seen = await Promise.all([one, other].map((daemon) => responseOf(daemon, session)));
    expect(seen.map(({ summary }) => summary)).toEqual(["Done.", "Done."]);
    const ids = (await Promise.all([one, other].map(({ client }) => client.session(session)))).map(({ runs }) => runs);
    expect(ids[0]?.map(({ run }) => run)).toEqual(ids[1]?.map(({ run }) => run));

    // Also offline, from each daemon's own record.
    expect(await troupe(["sessions", "replay", session], { home: other.home })).toMatchObject({ code: 0 });

    const [log = ""] = await readdir(path.join(other.home, "logs"));
    const written = await readFile(path.join(other.home, "logs", log), "utf8");
    expect(JSON.stringify(other.ready) + other.stderr() + written).not.toContain("pass-of-ada");

    const checks = await troupe(["doctor", "--json"], { home, env: { NATS_URL: inAddress } });
    const bus = JSON.parse(checks.stdout).checks.find(({ name }: { name: string }) => name === "bus");
    expect(bus).toMatchObject({
      status: "ok",
      detail: expect.stringContaining(`${guarded.url} answers: nats-server 2.`),
    });
  });

  it("keeps the session of a daemon that was killed, and the next daemon resumes it", async (test) => {
    // The agent is defined in the workspace only.
    const agents = { scribe: [{ steps: [{ text: "Written.", latencyMs: 1_500 }] }] };
    const troupes = await createTroupes(test, { url: open.url, agents });
    const workspace = await tempFolder("folder", test);
    await writeAgent(path.join(workspace, ".troupe"), "scribe", { tools: [] });
    const daemon = await troupes.daemonProcess();
    const { session, run } = await daemon.client.submit({ task: "go", agent: "scribe", workspace, origin: "api" });
    await until(async () => (await troupes.ledger.calls([run])).length > 0);
    await daemon.kill();
    const again = await troupes.daemon({ home: daemon.home });
    expect(await responseOf(again, session)).toMatchObject({ summary: "Written." });
    expect((await troupes.ledger.calls([run])).map(({ pid }) => pid)).toEqual([daemon.pid, again.pid]);
  });

  it("with a private certificate authority is trusted by clients that name the authority, and by no others", async (test) => {
    const home = await tempFolder("connect", test);
    const { ca, cert, key } = await makeCertificates(home);
    const secure = await startNatsServer({ flags: ["--tls", "--tlscert", cert, "--tlskey", key] });
    test.onTestFinished(() => secure.stop());
    const { code, stdout } = await troupe([...up, "--nats", secure.url], { home, ...refused });
    expect(code).toBe(5);
    expect(errorOf(stdout)).toMatchObject({
      message: `${secure.url} shows a certificate that is not trusted here`,
      fix: expect.stringContaining("NATS_CA"),
    });
    const troupes = await createTroupes(test, { url: secure.url, agents: answer });
    const daemon = await troupes.daemon({ env: { NATS_CA: ca } });
    const { session } = await daemon.client.submit({ task: "go", origin: "api" });
    expect(await responseOf(daemon, session)).toMatchObject({ summary: "Done." });
  });
});

/** A proxy in front of the same server that reports another version. */
async function asVersion(version: string, { port, url }: NatsServer, test: TestContext): Promise<string> {
  const [link, wire] = [await openNatsLink({ servers: url }), await startTcpProxy(port)];
  test.onTestFinished(() => wire.close());
  const ownVersion = `"version":"${link.connection.info?.version}"`;
  await link.close();
  const other = `"version":"${version}"`;
  wire.replace(ownVersion, other);
  return `nats://127.0.0.1:${wire.port}`;
}

describe.skipIf(program === null)(program === null ? natsServerMissing : "a local server", () => {
  const env = { TROUPE_NATS_SERVER: program ?? "" };
  const isAlive = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  it("starts and stops with its daemon, is restarted when it dies, and keeps its address and credentials", async (test) => {
    const troupes = await createTroupes(test, { url: "unused", agents: answer });
    const daemon = await troupes.daemonProcess({ nats: ["--nats", "auto"], env });
    const { home } = daemon;
    const file = path.join(home, "nats", "context.json");
    const pid = async (): Promise<number> => Number(await readFile(path.join(home, "nats", "server.pid"), "utf8"));
    const context = JSON.parse(await readFile(file, "utf8"));
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(daemon.ready).toMatchObject({ bus: `${context.url} (namespace ${troupes.namespace})` });
    expect(daemon.stderr()).toContain(`troupe worker --context ${file} --agents`);
    expect(daemon.stderr()).not.toContain(context.password);
    const worker = await troupes.workerInProcess("all", { nats: ["--context", file], flags: ["--name", "w"] });
    expect(await worker.ready).toMatchObject({ host: "w" });

    const first = await pid();
    expect(first).toBeGreaterThan(1);
    process.kill(first, "SIGKILL");
    await until(async () => (await pid().catch(() => first)) !== first);
    await until(async () => !(await daemon.client.status()).bus.includes("not reachable"));
    const { session } = await daemon.client.submit({ task: "go", origin: "api" });
    expect(await responseOf(daemon, session)).toMatchObject({ summary: "Done." });

    const second = await pid();
    await daemon.kill();
    await until(() => !isAlive(second));

    const again = await startDaemon({ home, test, env, flags: ["--nats", "auto", "--namespace", troupes.namespace] });
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual(context);
    expect(await again.client.response(session)).toMatchObject({ summary: "Done." });
    const third = await pid();
    await again.stop();
    expect(await again.ended).toMatchObject({ code: 0 });
    await until(() => !isAlive(third));
    expect((await worker.stop()).code).toBe(0);
  }, 180_000);

  it.for([
    ["nowhere on the PATH", { PATH: "/nowhere" }, /needs nats-server, and it is not on the PATH/],
    [
      "missing at the configured path",
      { TROUPE_NATS_SERVER: "/nowhere/nats-server" },
      /\/nowhere\/nats-server, which is not an executable file/,
    ],
    ["another program with that name", { TROUPE_NATS_SERVER: "/bin/false" }, /rejects/],
  ] as const)("%s: reported, with the place to get one", async ([_what, env, words], test) => {
    const home = await tempFolder("connect", test);
    const { code, stdout } = await troupe([...up, "--nats", "auto"], { home, env, ...refused });
    expect(code).toBeGreaterThanOrEqual(3);
    const { error } = JSON.parse(stdout);
    expect(error.message).toMatch(words);
    expect(error.fix).toContain("nats-server");
  });
});
