import { it } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { linkOf, openTab } from "../harness/tab.ts";
import { sessionIs } from "../harness/tree-view.ts";

// A settled session takes another turn from the page, and both stand in its tree.

const agents: Agents = {
  main: [
    { when: { continued: true }, steps: [{ latencyMs: 300, text: "As I said: four." }] },
    { steps: [{ text: "Four." }] },
  ],
};

describeInChromium("a session that has settled", (browser) => {
  const theDaemon = useShared((test) => startScriptedDaemon({ test, agents }));

  it("is continued with a further task; the new turn is shown below the first", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    const { session, run } = await daemon.client.submit({ task: "two and two", agent: "main", origin: "api" });
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon, `?session=${session}`));
    await sessionIs(page, "completed");

    const field = page.getByLabel("Continue this session");
    await field.fill("are you sure?");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("2 turns").waitFor();
    await sessionIs(page, "completed");
    await page.getByText("As I said: four.").first().waitFor();
    const rows = page.getByTestId("run-row");
    expect(await rows.count()).toBe(2);
    expect(await rows.first().getAttribute("data-run")).toBe(run);
    // Ready for the next one, with nothing left of what was sent.
    expect(await field.inputValue()).toBe("");

    await field.fill("once more");
    await field.press("Control+Enter");
    await page.getByText("3 turns").waitFor();
    await sessionIs(page, "completed");
    expect((await daemon.client.session(session))?.session).toMatchObject({ turns: 3, task: "two and two" });
  });

  it("is recorded with all its turns, and with the page as its origin, if it was started and continued there", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon));
    await page.getByLabel("Task").fill("three and one");
    await page.getByRole("button", { name: "Start session" }).click();
    // Until then a wide page shows the session of another test, which has completed, too.
    await page.getByRole("main").getByText("three and one").first().waitFor();
    await sessionIs(page, "completed");
    await page.getByLabel("Continue this session").fill("are you sure?");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("2 turns").waitFor();
    await sessionIs(page, "completed");

    const session = new URL(page.url()).searchParams.get("session") ?? "";
    const recorded = await daemon.client.session(session);
    expect(recorded.session).toMatchObject({ origin: "page", task: "three and one", turns: 2 });
    expect(recorded.runs.map(({ task, status, summary }) => [task, status, summary])).toEqual([
      ["three and one", "completed", "Four."],
      ["are you sure?", "completed", "As I said: four."],
    ]);
  });

  it("keeps the typed text while another client continues it", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    const { session } = await daemon.client.submit({ task: "two and two", agent: "main", origin: "api" });
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon, `?session=${session}`));
    await sessionIs(page, "completed");
    await page.getByLabel("Continue this session").fill("and now?");
    await daemon.client.submit({ task: "are you sure?", continues: session, origin: "api" });
    await page.getByText("2 turns").waitFor();
    await sessionIs(page, "completed");
    expect(await page.getByLabel("Continue this session").inputValue()).toBe("and now?");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("3 turns").waitFor();
    await sessionIs(page, "completed");
    expect(await page.getByLabel("Continue this session").inputValue()).toBe("");
  });

  it("reports why it cannot continue, and keeps the typed text", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    const { session } = await daemon.client.submit({ task: "two and two", agent: "main", origin: "api" });
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon, `?session=${session}`));
    await sessionIs(page, "completed");
    await page.route("**/api/v1/sessions", async (route) => {
      if (route.request().method() !== "POST") return await route.continue();
      const error = { code: "CONFLICT", message: "it is still at work", fix: "wait for it" };
      await route.fulfill({ status: 409, json: { error } });
    });
    await page.getByLabel("Continue this session").fill("and now?");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByTestId("continue-form").getByText("it is still at work").waitFor();
    expect(await page.getByLabel("Continue this session").inputValue()).toBe("and now?");
  });
});
