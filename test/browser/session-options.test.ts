import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { it, type TestContext } from "vitest";
import { auditPage, nothingWrong } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { writeNewsTeam } from "../harness/home-files.ts";
import { openMoreOptions } from "../harness/more-options.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { type ScriptedDaemon, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { openPage, tabTo } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { sessionIs } from "../harness/tree-view.ts";

// The form of a task has the folder, the team, the model and the budget of the session behind "More options".

const agents: Agents = {
  main: [{ steps: [{ text: "I am main." }] }],
  news_lead: [{ steps: [{ text: "Led." }] }],
};

const aliases = { "user/.config/troupe/config.yaml": "aliases: {quick: anthropic/claude-haiku-4-5}\n" };

/** The session that the page shows and its first run, as the daemon stored them. */
async function storedOn(page: Page, daemon: ScriptedDaemon) {
  const session = new URL(page.url()).searchParams.get("session") ?? "";
  const { runs, session: row } = await daemon.client.session(session);
  const [run] = runs;
  if (!run) throw new Error(`the session ${session} has no run`);
  return { run, row };
}

async function startSession(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Start session" }).click();
}

describeInChromium("the options of a new session", (browser) => {
  const openForm = async (test: Pick<TestContext, "onTestFinished">) => {
    const daemon = await startScriptedDaemon({ test, agents, files: aliases });
    await writeNewsTeam(path.join(daemon.home, "teams"));
    const folder = path.join(await tempFolder("options", test), "project");
    await mkdir(folder);
    return { daemon, folder, ...(await openPage(browser(), daemon, { test })) };
  };

  it("are folded: the plain form has one field, and leaves every choice to the daemon", async (test) => {
    const { expect } = test;
    const { page, daemon } = await openForm(test);
    await page.getByTestId("task-form").waitFor();
    expect(await page.getByTestId("task-form").locator("input, select, textarea").count()).toBe(1);
    await page.getByLabel("Task").fill("go");
    await startSession(page);
    await sessionIs(page, "completed");
    const { run, row } = await storedOn(page, daemon);
    expect(run.agent).toBe("main");
    expect(path.basename(row.workspace)).toBe(row.session);
    expect(run.budget).toEqual({ tokens: null, costUsd: null, toolCalls: null, spawns: 200 });
  });

  it("reach the daemon, and the next session has them without the budget", async (test) => {
    const { expect } = test;
    const { page, daemon, folder, complaints } = await openForm(test);
    await page.getByLabel("Task").fill("go");
    const options = await openMoreOptions(page);
    await options.getByLabel("Folder").fill(folder);
    await options.getByLabel("Team").selectOption("news");
    const other = { news_lead: [{ steps: [{ text: "Led by another model." }] }] };
    const model = `scripted/${await writeScenario(daemon.home, other, "other")}`;
    await options.getByLabel("Model").fill(model);
    await options.getByLabel("Tokens").fill("900000");
    await options.getByLabel("US dollars").fill("12.5");
    await options.getByLabel("Tool calls").fill("7");
    await options.getByLabel("Sub-runs").fill("3");
    await startSession(page);
    await sessionIs(page, "completed");
    const { run, row } = await storedOn(page, daemon);
    expect(row).toMatchObject({ workspace: folder, team: "news" });
    expect(run).toMatchObject({ agent: "news_lead", model: "scripted/other" });
    await page.getByText("Led by another model.").first().waitFor();
    expect(run.budget).toEqual({ tokens: 900_000, costUsd: 12.5, toolCalls: 7, spawns: 3 });

    await page.reload();
    const remembered = page.getByTestId("more-options").locator("summary");
    await remembered.filter({ hasText: `folder ${folder}` }).waitFor();
    expect(await remembered.textContent()).toBe(`More optionsfolder ${folder}team newsmodel ${model}`);
    await openMoreOptions(page);
    expect(await options.getByLabel("Tokens").inputValue()).toBe("");
    await options.getByRole("button", { name: "Clear all options" }).click();
    expect(await options.getByLabel("Folder").inputValue()).toBe("");
    expect(complaints).toEqual([]);
  });

  it("offer the models that the daemon knows, show the problem of each at its field, and start nothing", async (test) => {
    const { expect } = test;
    const { page, daemon } = await openForm(test);
    await page.getByLabel("Task").fill("go");
    const options = await openMoreOptions(page);
    const offered = options.locator("datalist option");
    await offered.first().waitFor({ state: "attached" });
    const models = await offered.evaluateAll((all) => all.map((one) => one.getAttribute("value")));
    expect(models).toContain("quick");
    expect(models).not.toContain("inherit");

    const cases = [
      { label: "Folder", text: "work", problem: 'the workspace "work" is not an absolute path.' },
      { label: "Folder", text: "/none/here", problem: 'the workspace "/none/here" does not exist.' },
      { label: "Model", text: "nonsense", problem: 'no model is called "nonsense"' },
      { label: "Tokens", text: "10", problem: "the token budget of 10 tokens is too small: main needs at least" },
      { label: "Tokens", text: "20,000", problem: "Write a whole number above 0" },
      { label: "US dollars", text: "0", problem: "Write a number above 0" },
      { label: "Tool calls", text: "0", problem: "Write a whole number above 0" },
      { label: "Sub-runs", text: "-1", problem: "Write a whole number above 0" },
    ];
    for (const { label, text, problem } of cases) {
      const field = options.getByLabel(label);
      await field.fill(text);
      // Folded, to see that the problem opens them.
      await options.locator("summary").click();
      await startSession(page);
      await options.locator(".option-problem").filter({ hasText: problem }).waitFor();
      expect(await field.getAttribute("aria-invalid"), label).toBe("true");
      expect(await field.evaluate((input) => input === document.activeElement), label).toBe(true);
      const describedBy = (await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
      const id = await options.locator(".option-problem").getAttribute("id");
      expect(describedBy, label).toContain(id);
      await field.fill("");
      await options.locator(".option-problem").waitFor({ state: "detached" });
    }
    expect((await daemon.client.sessions()).sessions).toEqual([]);
  });

  it("are reached with the keyboard, have no barrier, and fit a narrow window with long values", async (test) => {
    const { expect } = test;
    const { page } = await openForm(test);
    await tabTo(page, "summary");
    await page.keyboard.press("Enter");
    const options = page.getByTestId("more-options");
    await options.getByLabel("Folder").waitFor();
    await tabTo(page, "input[name=folder]");
    await page.keyboard.type(`/${"a-long-name/".repeat(20)}end`);
    await tabTo(page, "input[name=model]");
    await page.keyboard.type(`vendor/${"model-".repeat(40)}`);
    await tabTo(page, "input[name=spawns]");
    await page.keyboard.type("0");
    await page.getByLabel("Task").fill("go");
    await page.keyboard.press("Control+Enter");
    await options.getByText("Write a whole number above 0").waitFor();
    expect(await auditPage(page, "form")).toEqual(nothingWrong);
    await picture(page, "open");
    await options.locator("summary").click();
    await options.getByText("folder /a-long-name").waitFor();
    expect(await auditPage(page, "form")).toEqual(nothingWrong);
    await picture(page, "folded");
  });
});

/** Writes pictures for a person who works on the page, if the environment names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  const { TROUPE_PICTURES: folder } = process.env;
  if (!folder) return;
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: path.join(folder, `options-${name}-${width}-${colorScheme}.png`) });
    }
  }
}
