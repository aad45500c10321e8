/** Credentials that end while they are used: the process reports it, keeps trying, and continues with new ones. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { ensureStreams, type NatsLinkEvent, natsAccess, openNatsLink } from "@troupe/nats";
import { describe, expect, it, type TestContext } from "vitest";
import { makeCertificates } from "../harness/certificates.ts";
import { troupe } from "../harness/cli.ts";
import { createNatsOperator } from "../harness/nats-operator.ts";
import { findNatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { saying } from "../harness/scenario-file.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { createTroupes } from "./troupes.fixture.ts";

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "credentials" : natsServerMissing, () => {
  it("that expire are reported once, and a renewed file is enough to reconnect", async (test) => {
    const operator = createNatsOperator();
    const server = await startFor(test, operator.config());
    // A JWT expires at a full second.
    const expiresAt = new Date(Date.now() + 2_000);
    let creds = operator.user({ expiresAt }).creds;
    const access = natsAccess({ credentials: { kind: "creds", text: creds, from: "my.creds", read: () => creds } });
    const link = await openNatsLink({ servers: server.url, access, reconnectDelayMs: 20 });
    test.onTestFinished(() => link.close());
    const events: NatsLinkEvent[] = [];
    link.onEvent((event) => events.push(event));
    const errors = () => events.flatMap((event) => (event.kind === "error" ? [event.error] : []));
    const others = () => events.map(({ kind }) => kind).filter((kind) => kind !== "error");
    const moreErrors = async (): Promise<void> => {
      const before = errors().length;
      await until(() => errors().length > before + 3);
    };

    // The server counts whole seconds: within the last one it accepts the client again, and disconnects it at once.
    await until(() => Date.now() > expiresAt.getTime() + 1_100);
    await moreErrors();
    expect(link.connected).toBe(false);
    const soFar = others();
    expect([soFar.at(0), soFar.at(-1)]).toEqual(["disconnected", "disconnected"]);
    for (const { code, message } of errors().slice(-3)) {
      expect(code).toBe("UNAUTHORIZED");
      expect(message).toMatch(/refuses these credentials: those in my\.creds have expired \(20/);
    }
    creds = "being written";
    await moreErrors();
    // Failed attempts to reconnect are not reported as further losses.
    expect(others()).toEqual(soFar);

    creds = operator.user().creds;
    await until(() => link.connected);
    expect(others()).toEqual([...soFar, "reconnected"]);
    expect((await ensureStreams({ link })).created).toHaveLength(3);
  });

  it("that are revoked: a worker reports it and keeps trying, and works again once its file is renewed", async (test) => {
    const operator = createNatsOperator();
    const [ofDaemon, first, second] = [operator.user(), operator.user(), operator.user()];
    const server = await startFor(test, operator.config());
    const folder = await tempFolder("credentials", test);
    const keep = async (name: string, text: string): Promise<string> => {
      await writeFile(path.join(folder, name), text);
      return path.join(folder, name);
    };
    const creds = await keep("worker.creds", first.creds);
    const context = await keep("worker.json", JSON.stringify({ url: server.url, creds }));
    const troupes = await createTroupes(test, {
      url: server.url,
      agents: {
        lead: [{ steps: [{ calls: [delegate("expert", "think")] }, { text: "It says: {{result.0.summary}}" }] }],
        expert: [{ steps: [{ text: "I thought." }] }],
      },
    });
    const [worker, daemon] = await Promise.all([
      troupes.workerInProcess("expert", {
        has: { expert: { tools: [] } },
        nats: ["--context", context],
        flags: ["--name", "w"],
      }),
      troupes.daemon({
        has: { lead: { tools: [], subagents: { allow: ["expert"] } } },
        env: { NATS_CREDS: await keep("daemon.creds", ofDaemon.creds) },
      }),
    ]);
    await worker.ready;
    const ask = async () => {
      const { session } = await daemon.client.submit({ task: "go", agent: "lead", origin: "api" });
      return await responseOf(daemon, session);
    };
    expect(await ask()).toMatchObject({ summary: "It says: I thought." });

    await server.reconfigure(operator.config({ revoked: [first] }));
    await worker.waitForOutput(/refuses these credentials/);
    await worker.waitForOutput(/is not reachable; reconnecting/);
    await keep("worker.creds", second.creds);
    await worker.waitForOutput(/is reachable again\n/);
    expect(await ask()).toMatchObject({ summary: "It says: I thought." });
    expect(worker.stderr().match(/is not reachable/g)).toHaveLength(1);
    expect(worker.stderr().match(/refuses these credentials/g)).toHaveLength(1);
    expect((await worker.stop()).code).toBe(0);

    const { stdout } = await worker.ended;
    const logs = (await Promise.all([folderText(daemon.home, "logs"), folderText(worker.home, "workers")])).join("");
    const written = stdout + worker.stderr() + JSON.stringify(daemon.ready) + daemon.stderr() + logs;
    expect(written).toContain("NATS refused an operation");
    for (const { seed, jwt } of [ofDaemon, first, second]) {
      expect(written).not.toContain(seed);
      expect(written).not.toContain(jwt);
    }
  });

  it("of a client's certificate let a session run; without one: exit 4, with the variables to set", async (test) => {
    const home = await tempFolder("credentials", test);
    const { ca, cert, key } = await makeCertificates(home);
    const flags = ["--tls", "--tlscert", cert, "--tlskey", key, "--tlsverify", "--tlscacert", ca];
    const server = await startNatsServer({ flags });
    test.onTestFinished(() => server.stop());
    const troupes = await createTroupes(test, { url: server.url, agents: saying("Done.") });
    const [daemon, { code, stdout }] = await Promise.all([
      troupes.daemon({ env: { NATS_CA: ca, NATS_CERT: cert, NATS_KEY: key } }),
      troupe(["nats", "check", "--json", "--nats", server.url], { home, env: { NATS_CA: ca } }),
    ]);
    const { session } = await daemon.client.submit({ task: "go", origin: "api" });
    expect(await responseOf(daemon, session)).toMatchObject({ summary: "Done." });
    expect(code).toBe(4);
    expect(JSON.parse(stdout).error).toMatchObject({
      message: `${server.url} wants a certificate of its clients, and none is named`,
      fix: expect.stringContaining("NATS_CERT=cert.pem NATS_KEY=key.pem"),
    });
  });
});

async function startFor(test: Pick<TestContext, "onTestFinished">, config: string) {
  const server = await startNatsServer({ config });
  test.onTestFinished(() => server.stop());
  return server;
}

/** The text of all files in a folder of a home. */
async function folderText(home: string, name: string): Promise<string> {
  const folder = path.join(home, name);
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && entry.name.endsWith(".log"));
  return (await Promise.all(files.map((file) => readFile(path.join(file.parentPath, file.name), "utf8")))).join("");
}
