import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { it, type TestContext } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import { writeNewsTeam } from "../harness/home-files.ts";
import { openMoreOptions } from "../harness/more-options.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { openPage } from "../harness/tab.ts";
import { sessionIs } from "../harness/tree-view.ts";

// The form of a task offers the teams of the daemon, and names the broken ones.

const agents: Agents = {
  main: [{ steps: [{ text: "I am main." }] }],
  news_lead: [
    { steps: [{ calls: [{ tool: "delegate", args: { agent: "news_writer", task: "write" } }] }, { text: "Led." }] },
  ],
  news_writer: [{ steps: [{ text: "Written." }], when: { task: "write" } }, { steps: [{ text: "Alone." }] }],
};

describeInChromium("a team", (browser) => {
  /** One for each test: the form moves when another test's session appears. */
  const startTeamDaemon = async (test: Pick<TestContext, "onTestFinished">) => {
    const daemon = await startScriptedDaemon({ test, agents });
    const teams = path.join(daemon.home, "teams");
    await writeNewsTeam(teams);
    await mkdir(path.join(teams, "torn"));
    await writeFile(path.join(teams, "torn", "team.yaml"), "description: Torn\ncolour: red\n");
    return daemon;
  };

  it("gets the task from the form; its runs have the names that people write", async (test) => {
    const { expect } = test;
    const daemon = await startTeamDaemon(test);
    const { page, complaints } = await openPage(browser(), daemon, { test });
    const team = page.getByLabel("Team", { exact: true });
    const agent = page.getByLabel("Agent that starts");
    const options = await openMoreOptions(page);
    await team.waitFor();
    expect(await agent.locator("option").allTextContents()).not.toContain("news/lead");
    // With the keyboard alone.
    await page.getByLabel("Task").fill("go");
    await page.keyboard.press("Tab");
    expect(await options.locator("summary").evaluate((summary) => summary === document.activeElement)).toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await team.evaluate((select) => select === document.activeElement)).toBe(true);
    await page.keyboard.type("news");
    await page.keyboard.press("Tab");
    await options.getByText("Writes news", { exact: true }).waitFor();
    expect(await team.inputValue()).toBe("news");
    expect(await agent.locator("option").allTextContents()).toEqual(["news/lead (entry)", "news/lead", "news/writer"]);
    await page.getByTestId("agent-problems").getByText("1 problem in agent files").click();
    await page.getByText("team.yaml:2").waitFor();
    const { TROUPE_PICTURES: folder } = process.env;
    for (const colorScheme of folder ? (["light", "dark"] as const) : []) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: path.join(folder ?? "", `team-${colorScheme}.png`) });
    }

    await page.getByRole("button", { name: "Start session" }).click();
    await sessionIs(page, "completed");
    const names = page.locator('[data-testid="run-row"] .agent');
    expect(await names.allTextContents()).toEqual(["news/lead", "news/writer"]);
    expect(complaints).toEqual([]);
  });

  it("can be entered at one of its agents", async (test) => {
    const { expect } = test;
    const { page } = await openPage(browser(), await startTeamDaemon(test), { test });
    await openMoreOptions(page);
    await page.getByLabel("Team", { exact: true }).selectOption("news");
    await page.getByLabel("Agent that starts").selectOption("news_writer");
    await page.getByLabel("Task").fill("alone");
    await page.getByRole("button", { name: "Start session" }).click();
    await sessionIs(page, "completed");
    expect(await page.locator('[data-testid="run-row"] .agent').allTextContents()).toEqual(["news/writer"]);
  });
});
