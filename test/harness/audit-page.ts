import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Accessibility and layout problems of the page. */
export interface Audit {
  light: string[];
  dark: string[];
  narrow: string[];
}

/** Parts of the page, for states that differ only there. */
export const parts = { selectedRun: ".run-panel, [aria-selected=true]", card: "[data-testid=approval-card]" };

export const nothingWrong: Audit = { light: [], dark: [], narrow: [] };

/**
 * In both colour schemes, and in the narrowest window that it is made for.
 *
 * @param part the selector of what this state has of its own, where another audit has seen the rest of the page: axe takes
 * most of a second for a whole page. The window is always measured as a whole.
 */
export async function auditPage(page: Page, part = "html"): Promise<Audit> {
  return {
    light: await accessProblems(page, part, "light"),
    dark: await accessProblems(page, part, "dark"),
    narrow: await sidewaysScrollers(page, 360),
  };
}

/** Serious and critical axe findings: the rule and the elements. A part that is not on the page fails the test. */
async function accessProblems(page: Page, part: string, colorScheme: "light" | "dark"): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await readFile(axeFile, "utf8"));
  const asked = { part, isDark: colorScheme === "dark" };
  return page.evaluate(async ({ part, isDark }) => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    // All that the dark page has of its own is its colours.
    const rules = isDark ? { runOnly: ["color-contrast"] } : {};
    const { violations } = await axe.run(part, { ...rules, resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  }, asked);
}

/** Elements that scroll sideways in a window of this width. */
async function sidewaysScrollers(page: Page, widthPx: number): Promise<string[]> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: widthPx, height: 740 });
  // Layouts follow their own width, one frame later.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const found = await page.evaluate(() => {
    const scrolls = (element: Element): boolean =>
      element === document.documentElement || ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    return [...document.querySelectorAll("*")]
      .filter((element) => scrolls(element) && element.scrollWidth > element.clientWidth)
      .map((element) => `${element.tagName}.${element.className}: ${element.scrollWidth} in ${element.clientWidth}`);
  });
  if (before) await page.setViewportSize(before);
  return found;
}
