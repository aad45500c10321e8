/** Tests a daemon and a worker over NATS: the placement of runs, and commands that cross processes. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Entry } from "@troupe/core";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../../harness/cli.ts";
import { findProcesses, newMark } from "../../harness/find-processes.ts";
import { askBeforeShell, writePolicy } from "../../harness/home-files.ts";
import { ledgerOf, repeatedKeys } from "../../harness/ledger.ts";
import { findNatsServer, natsServerMissing } from "../../harness/nats-server.ts";
import { type Agents, writeScenario } from "../../harness/scenario-file.ts";
import { atGate, delegate, gate, openGate, shell } from "../../harness/scripted-calls.ts";
import { questionsOf, responseOf, runsWhere } from "../../harness/session-queries.ts";
import { useShared } from "../../harness/shared-fixture.ts";
import { tempFolder } from "../../harness/temp-folder.ts";
import { startWithWorker } from "../../harness/test-hosts.ts";
import { until } from "../../harness/until.ts";

const hasServer = findNatsServer() !== null;

type Test = Pick<TestContext, "onTestFinished">;

/** main asks the coder, and says what it heard. */
const family = (coder: Agents[string]): Agents => ({
  main: [{ steps: [{ calls: [delegate("coder", "build")] }, { text: "{{result.0.summary}}" }] }],
  coder,
});

async function start(test: Test, prepareHome?: (home: string, isWorker: boolean) => Promise<unknown>) {
  const home = await tempFolder("machines", test);
  const ledger = ledgerOf(home);
  const registry = await startWithWorker({
    ...{ name: "machines", home, test, env: ledger.env },
    ...(prepareHome && { prepareHome: (each: string) => prepareHome(each, each !== home) }),
  });
  const { client } = registry.daemon;
  let scenarios = 0;
  const begin = async (agents: Agents) =>
    await client.submit({
      task: "work",
      scenario: await writeScenario(home, agents, `scenario-${++scenarios}`),
      origin: "api",
    });
  const runOf = async (session: string, agent: string): Promise<string> => {
    const rows = await runsWhere(registry.daemon, session, (runs) => runs.some((row) => row.agent === agent));
    return rows.find((row) => row.agent === agent)?.run ?? "";
  };
  const entriesOf = async (session: string, agent: string): Promise<Entry[]> =>
    (await client.entries(await runOf(session, agent))).entries;
  return { ...registry, home, ledger, client, begin, runOf, entriesOf };
}

const hostsIn = (entries: readonly Entry[]): string[] => [...new Set(entries.map(({ host }) => host))];

describe
  .skipIf(!hasServer)
  .concurrent(hasServer ? "a daemon and a worker" : natsServerMissing, { timeout: 180_000 }, () => {
    // For the tests that neither kill a worker nor need a policy.
    const shared = useShared((test) => start(test));

    it("share a session: each run works at a host that serves its agent; a cancel at one host ends processes of the other", async ({
      expect,
    }) => {
      const { client, daemon, worker, begin, runOf, entriesOf } = shared();
      const mark = newMark();
      const asleep = `sleep ${mark} & (setsid sleep ${mark}; true) & touch asleep.there; wait`;
      const { session, workspace } = await begin(family([{ steps: [{ calls: [shell(asleep)] }, { text: "never" }] }]));
      await atGate(workspace, "asleep");
      expect((await findProcesses(mark)).length).toBeGreaterThan(1);
      const { host } = await worker.ready;
      expect(hostsIn(await entriesOf(session, "coder"))).toEqual([host]);
      expect(hostsIn(await entriesOf(session, "main"))).not.toContain(host);

      await client.cancelRun(await runOf(session, "coder"), "not that");
      await until(async () => (await findProcesses(mark)).length === 0);
      expect(await responseOf(daemon, session)).toMatchObject({ status: "completed", details: "not that" });
      expect(hostsIn(await entriesOf(session, "coder"))).toEqual([host]);
    });

    it("a message to a run at the worker that is sent at the daemon is read at its next step", async ({ expect }) => {
      const { client, daemon, begin, runOf, entriesOf } = shared();
      const { session, workspace } = await begin(family([{ steps: [{ calls: [gate("coder")] }, { text: "built" }] }]));
      await atGate(workspace, "coder");
      await client.steer(await runOf(session, "coder"), "mind the gap", "ada");
      await openGate(workspace, "coder");
      expect(await responseOf(daemon, session)).toMatchObject({ status: "completed", details: "built" });
      const received = (await entriesOf(session, "coder")).flatMap((entry) =>
        entry.kind === "inbox.received" ? [entry.item] : [],
      );
      expect(received).toMatchObject([{ kind: "run.steered", text: "mind the gap", by: "ada" }]);
    });

    it("a run that waits for a person leaves its worker; any worker that is running at the answer continues it", async ({
      expect,
      onTestFinished,
    }) => {
      const test = { onTestFinished };
      const prepareHome = (home: string) => writePolicy(home, askBeforeShell);
      const { client, daemon, worker, begin, entriesOf, ledger } = await start(test, prepareHome);
      const { session } = await begin(
        family([{ steps: [{ calls: [shell("echo built")] }, { text: "{{result.0.output}}" }] }]),
      );
      const [question] = await questionsOf(daemon, session, 1);
      await until(async () => (await entriesOf(session, "coder")).at(-1)?.kind === "run.parked");
      await worker.kill("SIGKILL");
      const other = await worker.startAnother();
      const { host } = await other.ready;
      await client.answer(question?.id ?? "", { approved: true, by: "ada" });
      expect(await responseOf(daemon, session)).toMatchObject({
        status: "completed",
        details: expect.stringContaining("built"),
      });
      expect(hostsIn(await entriesOf(session, "coder"))).toEqual([(await worker.ready).host, host]);
      expect(repeatedKeys((await ledger.calls()).map(({ key }) => key))).toEqual([]);
    });

    it("a tool that the worker's owner denies does not run there, whatever the daemon allows; and troupe explain names the worker", async ({
      expect,
      onTestFinished,
    }) => {
      const prepareHome = async (home: string, isWorker: boolean) => {
        if (isWorker) await writePolicy(home, "tools: {deny: [shell]}\n");
      };
      const { home, daemon, worker, begin, runOf, entriesOf } = await start({ onTestFinished }, prepareHome);
      const { host } = await worker.ready;
      const { session, run, workspace } = await begin({
        main: [
          {
            steps: [
              { calls: [shell("echo main"), delegate("coder", "build")] },
              { text: "{{result.0.summary}}; {{result.1.summary}}" },
            ],
          },
        ],
        coder: [{ steps: [{ calls: [shell("touch built")] }, { text: "{{result.0.output}}" }] }],
      });
      const { details } = await responseOf(daemon, session);
      expect(details).toMatch(/^exit code 0; .*permission: .*shell/s);
      const coder = await runOf(session, "coder");
      expect((await entriesOf(session, "coder")).filter(({ kind }) => kind === "tool.started")).toEqual([]);
      expect(existsSync(path.join(workspace, "built"))).toBe(false);
      const [ofMain, ofCoder] = await Promise.all([
        troupe(["explain", run, "shell"], { home }),
        troupe(["explain", coder, "shell"], { home }),
      ]);
      expect([ofMain, ofCoder].map(({ stdout }) => stdout.trimEnd().split("\n").at(-1)?.replace(/ +/g, " "))).toEqual([
        "tool shell ✓ yes every layer lets it through",
        `tool shell ✗ no denied by the policy of ${host}`,
      ]);
    });
  });
