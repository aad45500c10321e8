import type { Page } from "playwright-core";
import { it, vi } from "vitest";
import { auditPage, nothingWrong } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import { atGate, delegate, gate, openGate, shell } from "../harness/scripted-calls.ts";
import { askingPolicy, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { openPage } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

const laneOf = (page: Page, agent: string) => page.locator(`[data-testid="lane"][data-agent="${agent}"]`);

const endIs = (page: Page, status: string) => page.locator(`.facts .badge[data-status="${status}"]`).waitFor();

/** The horizontal extents of all bars in one moment, by agent and kind, in pixels. */
async function barsOf(page: Page) {
  const all = await page.locator('[data-testid="lane"] [data-phase]').evaluateAll((bars) =>
    bars.map((bar) => {
      const { left: from, right: to } = bar.getBoundingClientRect();
      const agent = bar.closest('[data-testid="lane"]')?.getAttribute("data-agent");
      return { agent, phase: bar.getAttribute("data-phase"), from, to };
    }),
  );
  return (agent: string, phase: string) => all.filter((bar) => bar.agent === agent && bar.phase === phase);
}

describeInChromium("the timeline", (browser) => {
  it("shows parallel branches side by side over time, and shares folds and selection with the tree", async (test) => {
    const { expect } = test;
    const workspace = await tempFolder("timeline", test);
    const passes = (name: string) => [{ steps: [{ calls: [gate(name)] }, { text: "done" }] }];
    const daemon = await startScriptedDaemon({
      test,
      agents: {
        main: [
          {
            steps: [
              { calls: [delegate("one", "first"), delegate("two", "second")], latencyMs: 300 },
              { text: "end", latencyMs: 300 },
            ],
          },
        ],
        one: passes("one"),
        two: passes("two"),
      },
      files: {
        "agents/main.md": "---\ndescription: m\nsubagents: {allow: [one, two]}\n---\nLead.\n",
        "agents/one.md": "---\ndescription: o\n---\nWork.\n",
        "agents/two.md": "---\ndescription: t\n---\nWork.\n",
      },
    });
    const { page, complaints } = await openPage(browser(), daemon, { test });
    const { session } = await daemon.client.submit({ task: "go", agent: "main", origin: "api", workspace });
    await page.goto(`${daemon.url}/?session=${session}&show=timeline`);
    await Promise.all([atGate(workspace, "one"), atGate(workspace, "two")]);
    // Bars of a second: the clocks of two runs can differ by a part of that on a busy machine.
    for (const name of ["one", "two"]) {
      const duration = laneOf(page, name).getByRole("gridcell").nth(4);
      await expect.poll(async () => Number.parseFloat((await duration.textContent()) ?? "")).toBeGreaterThan(1);
    }
    await Promise.all([openGate(workspace, "one"), openGate(workspace, "two")]);
    await endIs(page, "completed");
    await laneOf(page, "main").locator('[data-phase="model"]').nth(1).waitFor();

    expect(
      await page.getByTestId("lane").evaluateAll((lanes) => lanes.map((lane) => lane.getAttribute("data-agent"))),
    ).toEqual(["main", "one", "two"]);
    // The scale still changes while the last events arrive.
    await vi.waitFor(async () => {
      const bars = await barsOf(page);
      const [one, two] = [bars("one", "tool")[0], bars("two", "tool")[0]];
      const [waits, models] = [bars("main", "delegating")[0], bars("main", "model")];
      // Both work at the same time, between the two model calls of their parent, which waits for them.
      expect(Math.max(one?.from ?? 0, two?.from ?? 0)).toBeLessThan(Math.min(one?.to ?? 0, two?.to ?? 0));
      expect(models).toHaveLength(2);
      const middle = ((one?.from ?? 0) + (one?.to ?? 0)) / 2;
      expect(middle).toBeGreaterThan(models[0]?.to ?? 0);
      expect(middle).toBeLessThan(models[1]?.from ?? 0);
      expect(middle).toBeGreaterThan(waits?.from ?? 0);
      expect(middle).toBeLessThan(waits?.to ?? 0);
    });

    const cells = await laneOf(page, "one").getByRole("gridcell").allTextContents();
    expect(cells[1]).toMatch(/model \S+, tools \S+s$/);
    expect(cells.slice(2).join(" ")).toMatch(/^\S+s \S+s \S+s completed$/);
    expect(await page.getByRole("columnheader").allTextContents()).toEqual([
      expect.stringContaining("Run"),
      expect.any(String),
      "Start",
      "End",
      "Duration",
      "Status",
    ]);
    expect(await page.getByTestId("axis").locator(".tick").first().textContent()).toBe("0");
    expect(await page.getByTestId("axis").locator(".tick").count()).toBeGreaterThan(1);

    await laneOf(page, "two").click();
    await page.locator("#run-title", { hasText: "two" }).waitFor();
    await page.getByTestId("show-tree").click();
    expect(await rowOf(page, "two").getAttribute("aria-selected")).toBe("true");
    await rowOf(page, "main").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await rowOf(page, "two").waitFor({ state: "detached" });
    await page.getByTestId("show-timeline").click();
    await laneOf(page, "main").waitFor();
    expect(await page.getByTestId("lane").count()).toBe(1);
    expect(new URL(page.url()).searchParams.get("show")).toBe("timeline");
    expect(complaints).toEqual([]);
  });

  it("grows while the session runs: the queue, the wait for a person, a pause, and each end", async (test) => {
    const { expect } = test;
    const daemon = await startScriptedDaemon({
      test,
      agents: {
        main: [{ steps: [{ calls: [delegate("worker", "first"), delegate("worker", "second")] }, { text: "end" }] }],
        worker: [
          { when: { task: "first" }, steps: [{ calls: [shell("true")] }, { text: "done" }] },
          { steps: [{ text: "done" }] },
        ],
      },
      files: {
        ...askingPolicy,
        "agents/main.md": "---\ndescription: m\nsubagents: {allow: [worker], max_concurrent: 1}\n---\nLead.\n",
        "agents/worker.md": "---\ndescription: w\ntools: [shell]\n---\nWork.\n",
      },
    });
    const { page } = await openPage(browser(), daemon, { test });
    const { session, run } = await daemon.client.submit({ task: "go", agent: "main", origin: "api" });
    await page.goto(`${daemon.url}/?session=${session}&show=timeline`);
    const [asking, queued] = [laneOf(page, "worker").nth(0), laneOf(page, "worker").nth(1)];
    await asking.locator('[data-phase="waiting"]').waitFor();
    await queued.locator('[data-phase="queued"]').waitFor();
    expect(await queued.textContent()).toContain("queued 1");
    await daemon.client.pause(run, "a test");
    await laneOf(page, "main").locator('[data-phase="paused"]').waitFor();
    await daemon.client.resume(run, "a test");

    const { approvals } = await daemon.client.approvals();
    await daemon.client.answer(approvals[0]?.id ?? "", { approved: true });
    await endIs(page, "completed");
    await asking.locator('.end[data-status="completed"]').waitFor();
    await queued.locator('[data-phase="model"]').waitFor();
    await asking.locator('[data-phase="tool"]').waitFor();
    expect(await asking.getByRole("gridcell").nth(1).textContent()).toMatch(/waits for a person \d/);
    expect(await queued.getByRole("gridcell").nth(1).textContent()).toMatch(/in the queue \d/);
    expect(await auditPage(page, "main")).toEqual(nothingWrong);
  });

  it("is usable with the keyboard alone, and shows a failed run and its retry", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { page } = await openPage(browser(), daemon, { test });
    await page.getByTestId("run-demo").click();
    await sessionIs(page, "completed");
    await page.getByTestId("show-timeline").focus();
    await page.keyboard.press("Enter");
    await laneOf(page, "main").focus();
    await page.keyboard.press("]");
    await page.locator('[data-testid="lane"][data-status="failed"]:focus').waitFor();
    expect(await page.locator('[data-testid="lane"]:focus .end').getAttribute("data-status")).toBe("failed");
    await page.keyboard.press("ArrowDown");
    expect(await page.locator('[data-testid="lane"]:focus').textContent()).toContain("try 2");
    await page.keyboard.press("Enter");
    await page.locator("#run-title:focus").waitFor();
    await page.keyboard.press("Escape");
    await page.locator('[data-testid="lane"]:focus').waitFor();
    expect(await auditPage(page, "main")).toEqual(nothingWrong);
  });
});
