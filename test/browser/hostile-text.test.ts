import type { Page } from "playwright-core";
import { it } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { hostileTexts, writeHostileScenario } from "../harness/hostile-texts.ts";
import { openPage } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

describeInChromium("hostile text", (browser) => {
  it("is shown as text everywhere: no script runs, and no other server gets a request", async (test) => {
    const { expect } = test;
    const home = await tempFolder("hostile", test);
    const env = { TROUPE_MODEL: `scripted/${await writeHostileScenario(home)}` };
    const daemon = await startDaemonInProcess({ home, test, env });
    const { page, requests, complaints } = await openPage(browser(), daemon, { test });

    const texts = Object.values(hostileTexts);
    for (const task of texts) await daemon.client.submit({ task, origin: "api" });
    await page
      .getByTestId("session-item")
      .nth(texts.length - 1)
      .waitFor();
    const task = texts.join("\n");
    await page.getByLabel("Task", { exact: true }).fill(task);
    await page.getByRole("button", { name: "Start session" }).click();
    await page.waitForFunction(
      (count) => document.querySelectorAll("[data-testid=session-item]").length > count,
      texts.length,
    );
    await sessionIs(page, "completed");

    expect(await wholeTask(page)).toBe(task);
    for (const agent of ["coder", "main"]) {
      await rowOf(page, agent).click();
      await page.locator("#run-title", { hasText: agent }).waitFor();
      const shown = await page.locator(".run-panel").textContent();
      for (const text of texts.slice(0, 2)) expect(shown).toContain(text);
      const more = page.locator(".run-panel .link", { hasText: "Show all" });
      while ((await more.count()) > 0) await more.first().click();
    }
    expect(await page.locator(".run-panel").textContent()).toContain(hostileTexts["ten thousand characters"]);

    expect(await foreignElements(page)).toEqual([]);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([daemon.url]));
    expect(complaints).toEqual([]);
  });

  it("cannot change the writing direction of the text beside it", async (test) => {
    const { expect } = test;
    const home = await tempFolder("hostile", test);
    const env = { TROUPE_MODEL: `scripted/${await writeHostileScenario(home)}` };
    const daemon = await startDaemonInProcess({ home, test, env });
    const task = hostileTexts["a turn of the writing direction"];
    const { session } = await daemon.client.submit({ task, origin: "api" });
    const { page } = await openPage(browser(), daemon, { test });
    await page.locator(`[data-session="${session}"]`).click();
    await sessionIs(page, "completed");
    await rowOf(page, "main").click();
    await page.locator("#run-title").waitFor();
    const isolation = await page.evaluate((text) => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found: string[] = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.parentElement && node.textContent?.includes(text)) {
          found.push(getComputedStyle(node.parentElement).unicodeBidi);
        }
      }
      return found;
    }, "\u202E");
    // The list, the head, the row and the panel at least.
    expect(isolation.length).toBeGreaterThanOrEqual(4);
    expect(new Set(isolation)).toEqual(new Set(["isolate"]));
  });
});

/** The task in the session's head, all of it. */
async function wholeTask(page: Page): Promise<string | null> {
  await page.locator(".head-task .link").click();
  return page.locator(".head-task .agent-text").textContent();
}

/** Elements that the page itself never makes, and attributes that run something. */
function foreignElements(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("#root *")]
      .filter(
        (element) =>
          ["IMG", "SCRIPT", "IFRAME", "STYLE", "BASE", "LINK", "OBJECT", "EMBED"].includes(
            element.tagName.toUpperCase(),
          ) ||
          element.getAttributeNames().some((name) => name.startsWith("on")) ||
          (element.getAttribute("href") ?? "").startsWith("javascript:"),
      )
      .map((element) => element.outerHTML.slice(0, 100)),
  );
}
