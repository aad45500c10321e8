/**
 * Requests to the team office whose processes are killed, and in a daemon and a worker over NATS. Nothing is sent or made
 * twice, and the answer comes.
 */
import path from "node:path";
import { readSessionFeed } from "@troupe/recorder";
import { describe, expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess, submitToDoomedDaemon } from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { casesOf } from "../harness/long.ts";
import { startNatsServer } from "../harness/nats-server.ts";
import { startNatsWorker } from "../harness/nats-worker.ts";
import { createOfficeHome, eventsCalled, openOfficeOf } from "../harness/office-home.ts";
import { responseOf } from "../harness/session-queries.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { startWorkerInProcess } from "../harness/worker.ts";

const meeting = { task: "Schedule a meeting with the team next Tuesday 2pm", team: "office", origin: "api" as const };
const domains = ["email", "calendar", "contacts", "slack"].map((name) => `office_${name}`);

describe("a daemon that is killed during a request to the office", { timeout: 180_000 }, () => {
  const failpoints = [
    // The request is read, and no run has begun to work on its part.
    "append:after#3",
    "claim:after#2",
    // The check for conflicts has run, and the event was made: no entry says so yet.
    "effect:after#3",
    "effect:after#5",
    "settle:after#1",
  ];
  // Around the event itself. Before and after it the daemon resumes as in test/e2e/kill.test.ts.
  const aroundEvent = casesOf(
    failpoints,
    (failpoint) => failpoint.startsWith("effect") || failpoint === "claim:after#2",
  );
  it.for(aroundEvent)("at %s: the next one makes the event once", async (failpoint, test) => {
    const home = await createOfficeHome(test);
    const env = { TROUPE_TEST_FAILPOINT: failpoint };
    const { accepted } = await submitToDoomedDaemon({ home, test, env }, meeting);
    const session = accepted?.session ?? "";

    const second = await startDaemonInProcess({ home, test });
    const response = await responseOf(second, session);
    expect(response).toMatchObject({ success: true, metrics: { totalTokens: 0 } });
    expect(await eventsCalled(openOfficeOf(home, test), "Team meeting")).toHaveLength(1);
    await second.stop();
    await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
  });
});

describe("a daemon and a worker over NATS", { timeout: 180_000 }, () => {
  const server = useShared(async (test) => {
    const started = await startNatsServer();
    test.onTestFinished(() => started.stop());
    return started;
  });
  const natsFlags = () => ["--nats", server().url];

  it("carry a request out together if they share the office", async (test) => {
    const home = await createOfficeHome(test);
    const flags = natsFlags();
    const daemon = await startDaemonInProcess({ home, test, flags: [...flags, "--agents", "office_main"] });
    const workerFlags = [...flags, "--name", "w1", "--agents", domains.join(",")];
    const worker = startWorkerInProcess({ home, test, flags: workerFlags });
    await worker.ready;
    const { session } = await daemon.client.submit(meeting);
    const response = await responseOf(daemon, session);
    expect(response, JSON.stringify(response)).toMatchObject({ success: true, metrics: { totalTokens: 0 } });
    expect(await eventsCalled(openOfficeOf(home, test), "Team meeting")).toHaveLength(1);
    const runs = (await daemon.client.session(session))?.runs ?? [];
    expect(runs.map(({ agent, host }) => [agent, host === "w1"])).toEqual([
      ["office_main", false],
      ["office_calendar", true],
    ]);
  });

  it("a worker that is killed leaves its request to the daemon, and the event is made once", async (test) => {
    const home = await createOfficeHome(test);
    const flags = [...natsFlags(), "--lease", "2s"];
    const env = { TROUPE_TEST_FAILPOINT: "effect:after#2" };
    const daemon = await startDaemonInProcess({ home, test, flags });
    const worker = await startNatsWorker({ home, test, name: "w1", agents: domains, flags, env });
    const { session } = await daemon.client.submit(meeting);
    const response = await responseOf(daemon, session);
    expect(response).toMatchObject({ success: true, metrics: { totalTokens: 0 } });
    expect(await eventsCalled(openOfficeOf(home, test), "Team meeting")).toHaveLength(1);
    await worker.kill();
  });

  it("a worker without an office leaves its agents to the daemon", async (test) => {
    const home = await createOfficeHome(test);
    const flags = natsFlags();
    const daemon = await startDaemonInProcess({ home, test, flags });
    const other = await tempFolder("worker-home", test);
    await startWorkerInProcess({ home: other, test, flags: [...flags, "--name", "w2", "--agents", "coder"] }).ready;
    const hosts = await daemon.client.hosts();
    const served = hosts.find(({ host }) => host === "w2")?.agents ?? [];
    expect(served.map(({ id }) => id)).toEqual(["coder"]);
    const refused = await troupe(["worker", "--agents", "office_calendar", ...flags], {
      home: other,
      ownProcess: false,
    });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/"office_calendar" needs an office, and this home has none\n.*troupe office seed/s);
  });
});
