import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe finds wrong with the page as it stands, serious or worse: the rule, and the elements. */
export async function accessProblems(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await readFile(axeFile, "utf8"));
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  });
}

/** What is wider than its place, so that the page or a part of it could be scrolled sideways. */
export function sidewaysScrollers(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const scrolls = (element: Element): boolean =>
      element === document.documentElement || ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    return [...document.querySelectorAll("*")]
      .filter((element) => scrolls(element) && element.scrollWidth > element.clientWidth)
      .map((element) => `${element.tagName}.${element.className}: ${element.scrollWidth} in ${element.clientWidth}`);
  });
}
