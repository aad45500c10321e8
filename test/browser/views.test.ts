import type { Page } from "playwright-core";
import { it, type TestContext } from "vitest";
import { auditPage, nothingWrong, parts } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import { hostileTexts } from "../harness/hostile-texts.ts";
import { connectionIs, linkOf, openPage, openTab, tabTo } from "../harness/tab.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

describeInChromium("every state of the page", (browser) => {
  it("passes axe in light and in dark, and fits into 360 pixels", async (test) => {
    const { expect } = test;
    const tab = await openTab(browser(), { test });
    const found = await walkThroughStates(tab.page, test, (part) => auditPage(tab.page, part));
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, nothingWrong])));
    expect(Object.keys(found)).toHaveLength(9);
  });

  it("has the colours of the system, or the chosen ones, also after a reload", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { page } = await openPage(browser(), daemon, { test, colorScheme: "light" });
    const light = await backgroundOf(page);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await backgroundOf(page);
    expect(dark).not.toBe(light);

    await page.getByRole("button", { name: "Theme: system. Switch to light." }).click();
    expect(await backgroundOf(page)).toBe(light);
    await page.reload();
    await connectionIs(page, "live");
    expect(await backgroundOf(page)).toBe(light);
    await page.getByRole("button", { name: "Theme: light. Switch to dark." }).click();
    await page.emulateMedia({ colorScheme: "light" });
    expect(await backgroundOf(page)).toBe(dark);
  });

  it("is usable with the keyboard alone", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { page } = await openPage(browser(), daemon, { test });
    const focused = (): Promise<string> =>
      page.evaluate(() => document.activeElement?.getAttribute("data-agent") ?? "");
    await tabTo(page, "[data-testid=run-demo]");
    await page.keyboard.press("Enter");
    await sessionIs(page, "completed");

    await tabTo(page, "[data-testid=run-row]");
    expect(await focused()).toBe("main");
    await page.keyboard.press("Enter");
    await page.keyboard.press("End");
    await page.locator('[data-agent="tester"]:focus').waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.locator('[data-agent="coder"]:focus').waitFor();
    await page.keyboard.press("ArrowLeft");
    await rowOf(page, "tester").waitFor({ state: "detached" });
    expect(await rowOf(page, "coder").getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.locator('[data-agent="tester"]:focus').waitFor();
    await page.keyboard.press("]");
    await page.locator('[data-status="failed"]:focus').waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator('[data-attempt="2"]:focus').waitFor();

    await page.keyboard.press("Enter");
    await page.locator("#run-title:focus", { hasText: "researcher" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator('[data-attempt="2"]:focus').waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#run-title").waitFor({ state: "detached" });

    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await tabTo(page, "[data-testid=task-form] textarea");
    await page.keyboard.type("typed, not walked: j k ?");
    await page.keyboard.press("Control+Enter");
    await page.getByTestId("session-item").filter({ hasText: "typed, not walked: j k ?" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

/**
 * Brings the page into each of its main states, in the order in which a new user meets them, and looks at each, or at the
 * part of it that is new.
 */
async function walkThroughStates<Seen>(
  page: Page,
  test: Pick<TestContext, "onTestFinished">,
  seeNow: (part?: string) => Promise<Seen>,
): Promise<Record<string, Seen>> {
  const seen: Record<string, Seen> = {};
  const look = async (state: string, part?: string): Promise<void> => {
    seen[state] = await seeNow(part);
  };
  const daemon = await startDemoDaemon(test, 4);
  await page.goto(daemon.url);
  await page.getByTestId("token-form").waitFor();
  await look("the token form");
  await page.goto(linkOf(daemon));
  await page.getByTestId("run-demo").waitFor();
  await connectionIs(page, "live");
  await look("no sessions");
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await look("the help", "dialog[open]");
  await page.keyboard.press("Escape");

  const long = await daemon.client.submit({ task: hostileTexts["ten thousand characters"], origin: "api" });
  await page.goto(linkOf(daemon, `?session=${long.session}`));
  await rowOf(page, "coder").waitFor();
  await look("a task without an end", "main, nav");

  await page.goto(daemon.url);
  await page.getByTestId("run-demo").click();
  await rowOf(page, "coder").waitFor();
  await look("a running session");
  await rowOf(page, "coder").click();
  await page.locator("#run-title").waitFor();
  await look("a selected run", parts.selectedRun);
  await page.getByRole("button", { name: "Close" }).click();
  await sessionIs(page, "completed");
  await page.locator(`[data-testid="run-row"][data-status="failed"]`).click();
  await page.locator("#run-title").waitFor();
  await look("a failed run", parts.selectedRun);
  await page.getByRole("button", { name: "Close" }).click();
  const shown = page.url();
  await page.goto(`${daemon.url}/?session=00000000-0000-7000-8000-000000000000`);
  await page.getByText("No such session").waitFor();
  await look("a session that is not there", "main");
  await page.goto(shown);
  await sessionIs(page, "completed");
  await daemon.stop();
  await connectionIs(page, "lost");
  await look("a lost daemon");
  return seen;
}

/** The colour under everything. */
function backgroundOf(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
}
