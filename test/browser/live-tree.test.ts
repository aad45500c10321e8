import type { Page } from "playwright-core";
import { it } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import { troupe } from "../harness/cli.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { connectionIs, openPage, patienceMs } from "../harness/tab.ts";
import { demoRuns, rowOf, sessionIs, shownRuns, shownShape } from "../harness/tree-view.ts";

describeInChromium("the live tree", (browser) => {
  const finished = useShared(async (test) => {
    const daemon = await startDemoDaemon(test);
    const { session } = await daemon.client.submit({ task: "the finished one", origin: "api" });
    return { daemon, query: `?session=${session}` };
  });

  it("grows and changes while the demo runs, from one press of a button to the end", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test, 6);
    const { page, complaints, requests } = await openPage(browser(), daemon, { test });
    await watchRows(page);
    await page.getByTestId("run-demo").click();
    await sessionIs(page, "completed");

    expect(await shownShape(page)).toEqual(demoRuns);
    expect(await seenRows(page)).toEqual({
      doubled: [],
      seen: expect.arrayContaining([
        "main 1 running",
        "researcher 1 running",
        "researcher 1 failed",
        "researcher 2 running",
        "coder 1 running",
        "tester 1 running",
        ...demoRuns.map(({ agent, attempt, status }) => `${agent} ${attempt} ${status}`),
      ]),
    });
    expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([daemon.url]));
    expect(complaints).toEqual([]);
  });

  it("shows each run's agent, status, depth, steps, step limit and demo label", async (test) => {
    const { expect } = test;
    const { daemon, query } = finished();
    const { page } = await openPage(browser(), daemon, { test, query });
    await sessionIs(page, "completed");

    const tester = rowOf(page, "tester");
    expect(await tester.getAttribute("aria-level")).toBe("3");
    expect(await tester.locator("svg.role").getAttribute("data-role")).toBe("tester");
    expect(await tester.locator(".badge").textContent()).toBe("completed");
    expect(await tester.locator(".badge svg").count()).toBe(1);
    expect(await tester.locator(".cell-depth").textContent()).toBe("depth 2");
    expect(await tester.locator(".cell-steps").textContent()).toMatch(/^3\/\d+ steps$/);
    expect(await tester.locator(".cell-tools").textContent()).toBe("2 tools");
    expect(await tester.locator(".cell-time").textContent()).toMatch(/\d/);
    expect(await rowOf(page, "researcher", 2).locator(".try").textContent()).toBe("try 2 of 2");
    for (const icon of ["main", "researcher", "coder", "tester"]) {
      expect(await page.locator(`svg.role[data-role="${icon}"]`).count()).toBeGreaterThan(0);
    }
    expect(await page.locator(".session-head").textContent()).toContain("no model was called");

    await page.getByRole("button", { name: "Read the whole answer" }).click();
    await page.locator(".run-panel", { hasText: "The workspace now contains REPORT.md" }).waitFor();
    await page.locator(".run-panel .lines", { hasText: "hello.html" }).waitFor();
  });

  it("indents each level, and folds and unfolds what is below a row", async (test) => {
    const { expect } = test;
    const { daemon, query } = finished();
    const { page } = await openPage(browser(), daemon, { test, query });
    await sessionIs(page, "completed");

    const widths = await Promise.all(
      ["main", "coder", "tester"].map((agent) =>
        rowOf(page, agent)
          .locator(".rails")
          .evaluate((rails) => rails.getBoundingClientRect().width),
      ),
    );
    expect(widths).toEqual([...new Set(widths)].sort((a, b) => a - b));

    const main = rowOf(page, "main");
    await main.getByRole("button", { name: "Fold" }).click();
    await main.locator(".folded").waitFor();
    expect(await main.getAttribute("aria-expanded")).toBe("false");
    expect(await main.locator(".folded").textContent()).toBe("+5 · 1 failed");
    expect((await shownRuns(page)).map(({ agent }) => agent)).toEqual(["main"]);

    await main.getByRole("button", { name: "Unfold" }).click();
    await rowOf(page, "tester").waitFor();
    expect(await shownShape(page)).toEqual(demoRuns);
  });

  it("shows a session without a reload that `troupe run` started elsewhere", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { page, requests } = await openPage(browser(), daemon, { test });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const asked = requests.filter((url) => url.endsWith("/api/v1/sessions?limit=100")).length;
    const run = troupe(["run", "from a terminal"], { home: daemon.home });
    await page.getByTestId("session-item").filter({ hasText: "from a terminal" }).waitFor();
    await sessionIs(page, "completed");
    expect(await shownShape(page)).toEqual(demoRuns);
    expect((await run).code).toBe(0);
    expect(requests.filter((url) => url.endsWith("/api/v1/sessions?limit=100"))).toHaveLength(asked);
  });

  it("stops a session from the page: no run of it continues", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test, 1);
    const { page } = await openPage(browser(), daemon, { test });
    await page.getByTestId("run-demo").click();
    await rowOf(page, "coder").waitFor();
    await page.getByTestId("cancel-session").click();
    await page.getByRole("button", { name: "Really cancel?" }).click();
    await sessionIs(page, "cancelled");
    const shown = await shownRuns(page);
    // An attempt that had failed before stays failed.
    expect(shown.map(({ status }) => status)).toContain("cancelled");
    expect(shown.filter(({ status }) => !["cancelled", "failed", "completed"].includes(status))).toEqual([]);
    expect(await page.getByTestId("cancel-session").count()).toBe(0);
    const [row] = await daemon.client.sessions({ limit: 1 }).then(({ sessions }) => sessions);
    expect(row).toMatchObject({ status: "cancelled", runsActive: 0 });
  });

  it("shows the context that a parent passed to a child, as text", async (test) => {
    const { expect } = test;
    const words = "<b>The gate</b> hangs on one hinge.";
    const call = { tool: "delegate", args: { agent: "coder", task: "mend it", context: "full" } };
    const agents: Agents = {
      main: [{ steps: [{ text: words, calls: [call] }, { text: "done" }] }],
      coder: [{ steps: [{ text: "mended" }] }],
    };
    const daemon = await startScriptedDaemon({ test, agents });
    await daemon.client.submit({ task: `look at the gate: ${words}`, origin: "api" });
    const { page } = await openPage(browser(), daemon, { test });
    await sessionIs(page, "completed");
    await rowOf(page, "coder").click();
    const panel = page.locator(".run-panel");
    const section = panel.locator(".part", { has: page.getByRole("heading", { name: "Passed context" }) });
    expect(await section.locator(".agent-text").textContent()).toBe(`User: look at the gate: ${words}`);
    expect(await panel.locator(".run-path").textContent()).toBe("delegated by main");
    for (const name of ["Task", "Summary"]) {
      const text = await panel.locator(".part", { has: page.getByRole("heading", { name }) }).textContent();
      expect(text).toBe(`${name}${name === "Task" ? "mend it" : "mended"}`);
    }
    expect(await rowOf(page, "coder").locator(".cell-time").textContent()).toMatch(/\d/);
    await rowOf(page, "main").click();
    await panel.getByRole("heading", { name: "main" }).waitFor();
    expect(await section.count()).toBe(0);
  });

  it("is open again after a reload, with the same run selected", async (test) => {
    const { expect } = test;
    const { daemon, query } = finished();
    const { page } = await openPage(browser(), daemon, { test });
    const { session } = await daemon.client.submit({ task: "the newer one", origin: "api" });
    await daemon.client.cancel(session);
    const head = page.getByRole("region", { name: "Session", exact: true });
    for (const task of ["the newer one", "the finished one"]) {
      await page.getByTestId("session-item").filter({ hasText: task }).click();
      await head.filter({ hasText: task }).waitFor();
      expect(await head.count()).toBe(1);
    }
    await sessionIs(page, "completed");
    await rowOf(page, "tester").click();
    await page.waitForURL(/run=/);
    const address = new URL(page.url());
    expect(address.searchParams.get("session")).toBe(query.replace("?session=", ""));

    await page.reload();
    await connectionIs(page, "live");
    await page.locator('[data-testid="run-row"][aria-selected="true"][data-agent="tester"]').waitFor();
    expect(await page.locator("#run-title").textContent()).toBe("tester");
    expect(page.url()).toBe(address.href);
  });

  it("is the same in two tabs, over one stream, and continues in the second when the first is closed", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const first = await openPage(browser(), daemon, { test });
    const page = await first.context.newPage();
    await page.goto(daemon.url);
    await connectionIs(page, "live");
    const streams = (): number => first.requests.filter((url) => url.includes("/api/v1/events")).length;

    await first.page.getByTestId("run-demo").click();
    await Promise.all([sessionIs(first.page, "completed"), sessionIs(page, "completed")]);
    expect(await shownRuns(page)).toEqual(await shownRuns(first.page));
    expect(streams()).toBe(1);

    await first.page.close();
    await daemon.client.submit({ task: "after the first tab", origin: "api" });
    const item = page.getByTestId("session-item").filter({ hasText: "after the first tab" });
    await item.and(page.locator('[data-status="completed"]')).waitFor();
    await item.click();
    await expect.poll(() => shownShape(page), { timeout: patienceMs }).toEqual(demoRuns);
    expect(streams()).toBe(2);
  });
});

interface Watched {
  seen: string[];
  doubled: string[];
}

/** Records the text of every row of the tree whenever the document changes. */
function watchRows(page: Page): Promise<void> {
  return page.evaluate(() => {
    const watched: Watched = { seen: [], doubled: [] };
    Object.assign(window, { watched });
    const look = (): void => {
      const rows = [...document.querySelectorAll<HTMLElement>('[data-testid="run-row"]')].map(({ dataset }) => dataset);
      for (const { agent, attempt, status } of rows) {
        const what = `${agent} ${attempt} ${status}`;
        if (!watched.seen.includes(what)) watched.seen.push(what);
      }
      const ids = rows.map(({ run = "" }) => run);
      watched.doubled.push(...ids.filter((id, i) => ids.indexOf(id) !== i));
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  });
}

function seenRows(page: Page): Promise<Watched> {
  return page.evaluate(() => (window as unknown as { watched: Watched }).watched);
}
