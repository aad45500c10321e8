/**
 * Connected accounts on the command line, against servers with the protocols of Google and Slack: the account of each
 * domain, a revoked access, and the use of an account by the team office.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { openConnectionStore } from "@troupe/connectors";
import { describe, expect, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { connectAccount } from "../harness/google-server/connect-account.ts";
import { startGoogleServer } from "../harness/google-server/start-google-server.ts";
import { sampleWorkspace, userToken } from "../harness/slack-server/sample-workspace.ts";
import { startSlackServer } from "../harness/slack-server/start-slack-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

type Test = Pick<TestContext, "onTestFinished">;

async function withSlack(test: Test) {
  const home = await tempFolder("connections", test);
  const server = await startSlackServer(sampleWorkspace());
  test.onTestFinished(() => server.close());
  const env = { TROUPE_SLACK_URL: server.apiUrl };
  const { code, stderr } = await troupe(["connect", "slack"], { home, env, input: userToken, ownProcess: false });
  expect(code, stderr).toBe(0);
  return { home, server };
}

const rowsOf = async (home: string) => JSON.parse((await troupe(["connections", "ls", "--json"], { home })).stdout);
const doctorOf = async (
  home: string,
): Promise<{ name: string; status: string; detail: string; fix: string | null }[]> =>
  JSON.parse((await troupe(["doctor", "--json"], { home })).stdout).checks;

describe("connected accounts", { timeout: 120_000 }, () => {
  it("are listed with the domains that use them", async (test) => {
    const { home } = await withSlack(test);
    expect(await rowsOf(home)).toMatchObject([
      { id: "slack/Acme", kind: "slack", account: "U9", domains: ["slack"], usedFor: ["slack"] },
    ]);
    const { stdout } = await troupe(["connections", "ls"], { home });
    expect(stdout).toMatch(/^CONNECTION +ACCOUNT +DOMAINS +USED FOR\nslack\/Acme +U9 +slack +slack\n$/);
    expect(stdout).not.toContain(userToken);
    await mkdir(path.join(home, "user", ".config", "troupe"), { recursive: true });
    const file = path.join(home, "user", ".config", "troupe", "config.yaml");
    await writeFile(file, "office: {connections: {slack: local}}");
    expect(await rowsOf(home)).toMatchObject([{ usedFor: [] }]);
    await writeFile(file, "office: {connections: {email: google/none}}");
    expect(await doctorOf(home)).toContainEqual({
      ...{ name: "connections", status: "fail" },
      detail: expect.stringContaining("config.yaml:1 names google/none for email, and no such account is connected"),
      fix: "use one of: local",
    });
  });

  it("are used by the team office, in place of the local office", async (test) => {
    const { home, server } = await withSlack(test);
    const args = ["run", "--team", "office", "--no-input", "--json", "Summarize recent discussions in #general"];
    const { stdout, stderr } = await troupe(args, { home });
    expect(JSON.parse(stdout), stderr).toMatchObject({ success: true, metrics: { totalTokens: 0 } });
    expect(server.calls.map(({ method }) => method)).toContain("conversations.history");
  });

  it("are tested at their service, and a refused token is an exit code of its own", async (test) => {
    const { home, server } = await withSlack(test);
    const good = await troupe(["connections", "test"], { home });
    expect([good.code, good.stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ slack\/Acme {2}slack {2}U9: reads and changes/),
    ]);
    server.fail("auth.test", { kind: "error", code: "token_revoked" });
    const refused = await troupe(["connections", "test", "slack/Acme", "--json"], { home });
    expect(refused.code).toBe(4);
    const { ok, findings } = JSON.parse(refused.stdout);
    expect([ok, findings.length]).toEqual([false, 1]);
    server.fail("auth.test", { kind: "status", status: 503 });
    expect((await troupe(["connections", "test"], { home })).code).toBe(5);
  });

  it("are removed with their secrets", async (test) => {
    const { home } = await withSlack(test);
    const wrong = await troupe(["connections", "rm", "slack/Acmee"], { home });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("did you mean slack/Acme?")]);
    const { code, stdout } = await troupe(["connections", "rm", "slack/Acme", "--json"], { home });
    expect([code, JSON.parse(stdout)]).toEqual([0, { id: "slack/Acme", removed: true, revoked: null }]);
    expect(await rowsOf(home)).toEqual([]);
    expect(await openConnectionStore(home).secrets()).toEqual([]);
  });

  it("of Google are tested for each domain, checked by doctor, and revoked when they are removed", async (test) => {
    const home = await tempFolder("connections", test);
    const server = await startGoogleServer();
    test.onTestFinished(() => server[Symbol.asyncDispose]());
    const store = openConnectionStore(home);
    const person = { name: "Me", address: "me@acme.example" };
    const { id } = (await connectAccount(server, store, person)).connection;
    expect(await rowsOf(home)).toMatchObject([{ id, usedFor: ["email", "calendar", "contacts"] }]);
    const tested = await troupe(["connections", "test", id], { home });
    expect(tested.code, tested.stderr + tested.stdout).toBe(0);
    expect(tested.stdout.split("\n").filter((line) => line.startsWith("✓"))).toHaveLength(3);
    const checks = await doctorOf(home);
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: `connection ${id}`,
        status: "ok",
        detail: expect.stringContaining("refreshed by itself"),
      }),
    );
    await store.change(id, async (opened) => ({
      ...opened,
      connection: { ...opened.connection, settings: { ...opened.connection.settings, isRevoked: "true" } },
    }));
    expect(await doctorOf(home)).toContainEqual(
      expect.objectContaining({ name: `connection ${id}`, status: "warn", fix: "troupe connect google" }),
    );
    expect((await troupe(["connections", "test", id], { home })).code).toBe(4);
    const removed = await troupe(["connections", "rm", id, "--json"], { home });
    expect(JSON.parse(removed.stdout)).toEqual({ id, removed: true, revoked: true });
  });

  it("of none says that the local office is used", async (test) => {
    const home = await tempFolder("connections", test);
    const { code, stderr } = await troupe(["connections", "ls"], { home });
    expect([code, stderr]).toEqual([0, expect.stringContaining("the local office is used")]);
    expect((await troupe(["connections", "test"], { home })).code).toBe(0);
    const checks = await doctorOf(home);
    expect(checks).toContainEqual(expect.objectContaining({ name: "office", status: "ok" }));
    expect(checks.filter(({ name }) => name.startsWith("connection"))).toEqual([]);
  });
});
