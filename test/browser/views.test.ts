import type { Page } from "playwright-core";
import { it } from "vitest";
import { accessProblems, sidewaysScrollers } from "../harness/audit.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import { hostileTexts } from "../harness/hostile.ts";
import { connectionIs, linkOf, openPage, openTab, type Tab } from "../harness/tab.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

/** The states that everybody meets, in the order in which a new user does. */
interface States {
  look(state: string, page: Page): Promise<void>;
  tab: Tab;
}

describeInChromium("every state of the page", (browser) => {
  it("passes axe, in light and in dark", async (test) => {
    const { expect } = test;
    const problems: Record<string, string[]> = {};
    const tab = await openTab(browser(), { test });
    const look = async (state: string, page: Page): Promise<void> => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        problems[`${state}, ${colorScheme}`] = await accessProblems(page);
      }
    };
    await walkThroughStates({ look, tab }, test);
    expect(problems).toEqual(Object.fromEntries(Object.keys(problems).map((state) => [state, []])));
    expect(Object.keys(problems)).toHaveLength(2 * stateCount);
  }, 60_000);

  it("fits into 360 pixels: nothing has to be scrolled sideways", async (test) => {
    const { expect } = test;
    const problems: Record<string, string[]> = {};
    const tab = await openTab(browser(), { test, viewport: { width: 360, height: 740 } });
    const look = async (state: string, page: Page): Promise<void> => {
      problems[state] = await sidewaysScrollers(page);
    };
    await walkThroughStates({ look, tab }, test);
    expect(problems).toEqual(Object.fromEntries(Object.keys(problems).map((state) => [state, []])));
    expect(Object.keys(problems)).toHaveLength(stateCount);
  }, 60_000);

  it("has the colours of the system, or those that were chosen, also after a reload", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { page } = await openPage(browser(), daemon, { test, colorScheme: "light" });
    const light = await paper(page);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await paper(page);
    expect(dark).not.toBe(light);

    await page.getByRole("button", { name: "Theme: system. Switch to light." }).click();
    expect(await paper(page)).toBe(light);
    await page.reload();
    await connectionIs(page, "live");
    expect(await paper(page)).toBe(light);
    await page.getByRole("button", { name: "Theme: light. Switch to dark." }).click();
    await page.emulateMedia({ colorScheme: "light" });
    expect(await paper(page)).toBe(dark);
  });

  it("is reached with the keyboard alone", async (test) => {
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
    await tabTo(page, "textarea");
    await page.keyboard.type("typed, not walked: j k ?");
    await page.keyboard.press("Control+Enter");
    await page.getByTestId("session-item").filter({ hasText: "typed, not walked: j k ?" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

const stateCount = 9;

/** Brings the page into each of its main states, one after the other. */
async function walkThroughStates({ look, tab }: States, test: Parameters<typeof startDemoDaemon>[0]): Promise<void> {
  const { page } = tab;
  const daemon = await startDemoDaemon(test, 4);
  await page.goto(daemon.url);
  await page.getByTestId("token-form").waitFor();
  await look("the token form", page);
  await page.goto(linkOf(daemon));
  await page.getByTestId("run-demo").waitFor();
  await connectionIs(page, "live");
  await look("no sessions", page);
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await look("the help", page);
  await page.keyboard.press("Escape");

  const long = await daemon.client.submit({ task: hostileTexts["ten thousand characters"], origin: "api" });
  await page.goto(linkOf(daemon, `?session=${long.session}`));
  await rowOf(page, "coder").waitFor();
  await look("a task without an end", page);

  await page.goto(daemon.url);
  await page.getByTestId("run-demo").click();
  await rowOf(page, "coder").waitFor();
  await look("a running session", page);
  await rowOf(page, "coder").click();
  await page.locator("#run-title").waitFor();
  await look("a selected run", page);
  await page.getByRole("button", { name: "Close" }).click();
  await sessionIs(page, "completed");
  await page.locator(`[data-testid="run-row"][data-status="failed"]`).click();
  await page.locator("#run-title").waitFor();
  await look("a failed run", page);
  await page.getByRole("button", { name: "Close" }).click();
  await daemon.kill();
  await connectionIs(page, "lost");
  await look("a lost daemon", page);
  await daemon.startAgain();
  await connectionIs(page, "live");
  await page.goto(`${daemon.url}/?session=00000000-0000-7000-8000-000000000000`);
  await page.getByText("No such session").waitFor();
  await look("a session that is not there", page);
}

/** The colour under everything. */
function paper(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
}

/** Presses Tab until the focus is there. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${selector}`);
}
