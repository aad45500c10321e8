import { it } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { openPage } from "../harness/tab.ts";
import { sessionIs, shownShape } from "../harness/tree-view.ts";

// A task that begins with /spawn starts a sub-agent from both forms of the page.

describeInChromium("the forms of the page", (browser) => {
  it("start the sub-agent of a /spawn, and show why a wrong one is not started", async (test) => {
    const { expect } = test;
    const daemon = await startScriptedDaemon({
      test,
      agents: {
        main: [{ steps: [{ text: "not asked" }, { text: "It is done." }] }],
        coder: [{ steps: [{ text: "Written." }] }],
        tester: [{ steps: [{ text: "Tested." }] }],
      },
    });
    const { page } = await openPage(browser(), daemon, { test });
    const task = page.getByLabel("Task", { exact: true });
    expect(await task.getAttribute("placeholder")).toContain("/spawn AGENT TASK");
    await task.fill("/spawn codr Write it");
    await page.getByRole("button", { name: "Start session" }).click();
    await page.getByText("did you mean coder?").waitFor();
    expect(await page.getByTestId("run-row").count()).toBe(0);

    await task.fill("/spawn coder Write it");
    await page.getByRole("button", { name: "Start session" }).click();
    await sessionIs(page, "completed");
    const run = { attempt: 1, status: "completed" };
    expect(await shownShape(page)).toEqual([
      { agent: "main", depth: 0, ...run },
      { agent: "coder", depth: 1, ...run },
    ]);

    const next = page.getByLabel("Continue this session");
    await next.fill("/spawn tester Test it");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("2 turns").waitFor();
    await sessionIs(page, "completed");
    expect((await shownShape(page)).map(({ agent }) => agent)).toEqual(["main", "coder", "main", "tester"]);
  });
});
