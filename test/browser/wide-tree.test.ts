import type { Page } from "playwright-core";
import { it } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import { isLong } from "../harness/long.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { openPage } from "../harness/tab.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

const children = isLong ? 1_000 : 200;

const agent = (name: string, rest: string): string => `---\nname: ${name}\ndescription: Works.\n${rest}\n---\nWork.\n`;
const files = {
  "agents/lead.md": agent(
    "lead",
    `subagents: {allow: [worker], max_concurrent: 50}
troupe: {limits: {maxChildren: ${children}, maxConcurrent: 50, maxOutputTokens: 200000}}`,
  ),
  "agents/worker.md": agent("worker", "tools: []"),
};
const tasks = Array.from({ length: children }, (_, i) => ({ agent: "worker", task: `Part ${i + 1}.` }));
const agents = {
  lead: [{ steps: [{ calls: [{ tool: "delegate", args: { tasks } }] }, { text: "All parts are in." }] }],
  worker: [{ steps: [{ latencyMs: 100, text: "Done." }] }],
};

/** Wide slack, for a machine however busy: an idle one stays below 150. */
const longTaskMsMax = 2_000;

describeInChromium("a run with hundreds of children", (browser) => {
  it("shows children while they start and end, scrolls to the last one, and stays responsive", {
    timeout: 180_000,
  }, async (test) => {
    const { expect } = test;
    const daemon = await startScriptedDaemon({ test, agents, files });
    const { page, complaints } = await openPage(browser(), daemon, { test });
    await noteLongTasks(page);
    await daemon.client.submit({ task: "All parts", agent: "lead", origin: "api", budget: { spawns: children } });
    await rowOf(page, "worker").waitFor();
    const frames = scrollAllTheWhile(page);
    await sessionIs(page, "completed");
    expect(await frames.stop()).toBeGreaterThan(10);

    expect(await page.locator(".facts").textContent()).toContain(`${(children + 1).toLocaleString("en-US")} runs`);
    await rowOf(page, "lead").press("End");
    const last = page.getByTestId("run-row").filter({ hasText: `Part ${children}.` });
    await last.and(page.locator(":focus")).waitFor();
    expect(await last.getAttribute("aria-posinset")).toBe(`${children}`);
    expect(await page.getByTestId("run-row").count()).toBeLessThan(60);
    await page.getByTestId("show-timeline").click();
    const lane = page.getByTestId("lane").filter({ hasText: `Part ${children}.` });
    await lane.locator('[data-phase="model"]').waitFor();
    expect(await lane.getAttribute("aria-posinset")).toBe(`${children}`);
    expect(await page.getByTestId("lane").count()).toBeLessThan(70);
    await page.getByTestId("timeline").evaluate((view) => view.scrollTo(0, view.scrollHeight / 2));
    await page
      .getByTestId("lane")
      .filter({ hasText: `Part ${children / 2}.` })
      .locator('[data-phase="model"]')
      .waitFor();
    expect(complaints).toEqual([]);
    const longest = Math.max(0, ...(await longTasksOf(page)));
    await test.annotate(`the page was busy for ${longest} ms at most`);
    expect(longest).toBeLessThan(longTaskMsMax);
  });
});

/** Notes how long the page was busy at a stretch, in ms, whenever that was longer than three frames. */
function noteLongTasks(page: Page): Promise<void> {
  return page.evaluate(() => {
    const longTasks: number[] = [];
    Object.assign(window, { longTasks });
    new PerformanceObserver((list) => {
      longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)));
    }).observe({ type: "longtask" });
  });
}

function longTasksOf(page: Page): Promise<number[]> {
  return page.evaluate(() => (window as unknown as { longTasks: number[] }).longTasks);
}

/** Scrolls the tree with each frame, as a searching user does. Returns the number of frames. */
function scrollAllTheWhile(page: Page): { stop(): Promise<number> } {
  const frames = page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let drawn = 0;
        const scroll = (): void => {
          drawn += 1;
          const tree = document.querySelector(".tree");
          if (tree) tree.scrollTop = (tree.scrollTop + 300) % tree.scrollHeight;
          if ("scrolled" in window) resolve(drawn);
          else requestAnimationFrame(scroll);
        };
        scroll();
      }),
  );
  return {
    async stop() {
      await page.evaluate(() => Object.assign(window, { scrolled: true }));
      return frames;
    },
  };
}
