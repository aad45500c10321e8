import type { Page } from "playwright-core";
import { it, type TestContext } from "vitest";
import { auditPage, nothingWrong, parts } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { openPage, type Tab } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

const numbers = (count: number, word: string) => Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join("");
const hostile = "\u202Eturned\u0007 <img src=x onerror=alert(1)>";
const long = "docs/a folder whose name goes on/and-another-one-that-never-seems-to-come-to-an-end/notes.md";

/** Every sort of change, by the tools for files. */
const agents: Agents = {
  main: [
    {
      steps: [
        {
          calls: [
            { tool: "write", args: { path: "cart.js", content: "one\ntwo\nthree\n" } },
            { tool: "write", args: { path: "empty.txt", content: "" } },
            { tool: "write", args: { path: "huge.txt", content: numbers(3_000, "line") } },
            { tool: "write", args: { path: long, content: `${hostile}\n` } },
          ],
        },
        { calls: [{ tool: "edit", args: { path: "cart.js", old: "two", new: `2 ${"and more ".repeat(30)}` } }] },
        { calls: [{ tool: "apply_patch", args: { patch: "--- a/empty.txt\n+++ /dev/null\n" } }] },
        { text: "All changed." },
      ],
    },
  ],
};

describeInChromium("the view of a run's changes", (browser) => {
  const changed = useShared(async (test) => {
    const home = await tempFolder("changes", test);
    const env = { TROUPE_MODEL: `scripted/${await writeScenario(home, agents)}` };
    const daemon = await startDaemonInProcess({ home, test, env });
    const { session } = await daemon.client.submit({ task: "change it all", origin: "api" });
    return { daemon, query: `?session=${session}` };
  });

  /** The panel of a run that has changed files in each way. */
  async function openChanges(test: Pick<TestContext, "onTestFinished">): Promise<Tab> {
    const { daemon, query } = changed();
    const tab = await openPage(browser(), daemon, { test, query });
    await sessionIs(tab.page, "completed");
    await rowOf(tab.page, "main").click();
    await fileOf(tab.page, long).waitFor();
    return tab;
  }

  it("lists the changed files with their lines, and unfolds into diffs", async (test) => {
    const { expect } = test;
    const { page, complaints } = await openChanges(test);
    // The four are written side by side: which of them is first is anybody's guess.
    expect((await listed(page)).sort()).toEqual([
      ["cart.js", "created", "+4 −1"],
      [long, "created", "+1 −0"],
      ["empty.txt", "deleted", "+0 −0"],
      ["huge.txt", "created", "+3,000 −0"],
    ]);
    await fileOf(page, "cart.js").locator("summary").focus();
    await page.keyboard.press("Enter");
    const diffs = fileOf(page, "cart.js").getByTestId("diff");
    await diffs.nth(1).waitFor();
    expect(await diffs.count()).toBe(2);
    const lines = await diffs
      .nth(1)
      .locator(".diff-line")
      .evaluateAll((found) =>
        found.map((line) => [
          (line as HTMLElement).dataset.kind,
          line.querySelector(".diff-number")?.textContent,
          line.querySelector("code")?.textContent?.slice(0, 12),
        ]),
      );
    expect(lines.filter(([kind]) => kind !== "hunk")).toEqual([
      ["same", "1", "one"],
      ["removed", "2", "two"],
      ["added", "2", "2 and more a"],
      ["same", "3", "three"],
    ]);

    await fileOf(page, "empty.txt").locator("summary").click();
    await fileOf(page, "empty.txt").getByText("No text lines have changed.").first().waitFor();
    await fileOf(page, long).locator("summary").click();
    await fileOf(page, long).locator("code").first().waitFor();
    const shown = await fileOf(page, long).locator("code").allTextContents();
    expect(shown.join("\n")).toContain("⟨U+202E⟩turned⟨U+0007⟩ <img src=x onerror=alert(1)>");
    expect(await page.locator(".run-panel img").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("loads a huge file in portions, passes axe in light and in dark, and fits into 360 pixels", async (test) => {
    const { expect } = test;
    const { page } = await openChanges(test);
    const huge = fileOf(page, "huge.txt");
    await huge.locator("summary").click();
    const lines = huge.locator(".diff-line");
    await lines.first().waitFor();
    expect(await lines.count()).toBe(200);
    for (const path of ["cart.js", "empty.txt", long]) await fileOf(page, path).locator("summary").click();
    await fileOf(page, long).getByTestId("diff").waitFor();
    // All lines of a diff have the same elements: the short ones stand for the long one.
    await huge.locator("summary").click();
    expect(await auditPage(page, parts.selectedRun)).toEqual(nothingWrong);
    await huge.locator("summary").click();
    await huge.getByRole("button", { name: /^Show .* more lines$/ }).click();
    await page.waitForFunction(() => document.querySelectorAll(".diff-line").length > 200);
    expect(await lines.count()).toBeLessThanOrEqual(1_200);
  });
});

function fileOf(page: Page, path: string) {
  return page.locator(`[data-testid="changed-file"][data-path="${path}"]`);
}

/** Path, kind and counts of each file. */
function listed(page: Page): Promise<string[][]> {
  return page
    .getByTestId("changed-file")
    .evaluateAll((files) =>
      files.map((file) =>
        [".change-path", ".change-kind", ".change-counts"].map(
          (part) => file.querySelector(`summary ${part}`)?.textContent ?? "",
        ),
      ),
    );
}
