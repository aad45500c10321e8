import { openNatsLink } from "@troupe/nats";
import type { Page } from "playwright-core";
import { it } from "vitest";
import { auditPage, nothingWrong } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { type InProcessDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import { gatherMicro } from "../harness/micro.ts";
import { findNatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { startNatsWorker } from "../harness/nats-worker.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { connectionIs, linkOf, openPage, openTab, tabTo } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { sessionIs } from "../harness/tree-view.ts";
import { startWorkerInProcess } from "../harness/worker.ts";

// The processes that run agents, as the page shows them: over a real server, each in a process of its own.

const agents: Agents = {
  main: [
    {
      steps: [
        { calls: [{ tool: "delegate", args: { agent: "coder", task: "{{task}}" } }] },
        { text: "{{result.0.output}}" },
      ],
    },
  ],
  coder: [{ steps: [{ text: "Done." }] }],
};

const hostOf = (page: Page, name: string) => page.locator(`[data-testid="host"][data-host="${name}"]`);
const hostIs = (page: Page, name: string, state: string): Promise<void> =>
  page.locator(`[data-testid="host"][data-host="${name}"][data-state="${state}"]`).waitFor();

describeInChromium("a daemon that is alone", (browser) => {
  it("shows the own host, and how to connect another machine", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { page, complaints } = await openPage(browser(), daemon, { test });
    await page.getByTestId("hosts-link").click();
    await page.getByTestId("connect-hint").getByText("troupe worker --agents coder,tester --nats").waitFor();
    const own = page.getByTestId("host");
    expect(await own.count()).toBe(1);
    expect(await own.getByRole("heading").textContent()).toMatch(/^daemon-/);
    expect(await own.textContent()).toMatch(/alive.*this daemon.*0\/64 busy.*version/);
    expect(await own.getByTestId("drain-host").count()).toBe(0);
    expect(await auditPage(page)).toEqual(nothingWrong);
    expect(complaints).toEqual([]);
  });
});

const hasServer = findNatsServer() !== null;

describeInChromium(hasServer ? "hosts of several machines" : natsServerMissing, (browser) => {
  it.skipIf(!hasServer)("shows hosts that join, their runs, a drain and a kill", async (test) => {
    const { expect } = test;
    const server = await startNatsServer();
    test.onTestFinished(() => server.stop());
    const home = await tempFolder("hosts", test);
    const env = { TROUPE_MODEL: `scripted/${await writeScenario(home, agents)}` };
    const flags = ["--nats", server.url, "--lease", "1000"];
    const daemon = await startDaemonInProcess({ home, test, env, flags: [...flags, "--agents", "main"] });
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon, "?view=hosts"));
    await connectionIs(page, "live");
    await page.getByTestId("connect-hint").waitFor();

    const [anvilHome, birchHome] = await Promise.all(["anvil", "birch"].map((name) => tempFolder(name, test)));
    const serving = { test, env, agents: ["coder"], flags };
    // Only the one that is killed needs a process of its own.
    const birch = await startNatsWorker({ ...serving, home: birchHome ?? "", name: "birch" });
    const anvil = startWorkerInProcess({
      ...{ ...serving, home: anvilHome ?? "" },
      flags: ["--name", "anvil", "--agents", "coder", ...flags],
    });
    for (const name of ["anvil", "birch"]) {
      await hostIs(page, name, "alive");
      expect(await hostOf(page, name).getByTestId("host-agent").textContent()).toBe("coder");
      expect(await hostOf(page, name).textContent()).toMatch(/0\/16 busy/);
    }
    expect(await page.getByTestId("connect-hint").count()).toBe(0);
    expect(await page.getByTestId("hosts-total").textContent()).toBe("3 online, 0 of 96 slots busy");
    expect(await auditPage(page, "main")).toEqual(nothingWrong);
    expect(await (await page.request.get(`${daemon.url}/api/v1/hosts`)).json()).toMatchObject({
      hosts: [{ role: "daemon" }, { host: "anvil" }, { host: "birch" }],
    });

    expect(await rolesByMicro(server.url)).toEqual(["daemon", "worker", "worker"]);

    await runsElsewhere(page, daemon);
    await page.goto(linkOf(daemon, "?view=hosts"));
    await tabTo(page, '[data-host="anvil"] [data-testid="drain-host"]');
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await hostIs(page, "anvil", "gone");
    expect(await anvil.ended).toMatchObject({ code: 0 });
    await birch.kill();
    await hostIs(page, "birch", "gone");
    await page.getByTestId("connect-hint").waitFor();
    expect(await hostOf(page, "birch").getByTestId("drain-host").count()).toBe(0);
  });
});

/** A run that only a worker can take is marked with where it lives. */
async function runsElsewhere(page: Page, daemon: InProcessDaemon): Promise<void> {
  const { session } = await daemon.client.submit({ task: "Say it", agent: "main", origin: "api" });
  await page.goto(linkOf(daemon, `?session=${session}`));
  await sessionIs(page, "completed");
  await page.locator('[data-agent="coder"] .run-host', { hasText: /anvil|birch/ }).waitFor();
}

/** All three, as NATS' own tools find them. */
async function rolesByMicro(servers: string): Promise<unknown[]> {
  const link = await openNatsLink({ servers });
  const answers = await gatherMicro(link, "$SRV.PING.troupe-worker", 3);
  await link.close();
  return answers.map(({ metadata }) => (metadata as Record<string, string>).role).sort();
}
