import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { it, type TestContext } from "vitest";
import { auditPage, nothingWrong, parts } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { openPage } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

const edit = { tool: "edit", args: { path: "a.txt", old: "one", new: "two" } };
const write = { tool: "write", args: { path: "made.txt", content: "made" } };

describeInChromium("the undo of a run's changes on the page", (browser) => {
  it("lists the files, undoes them after a confirmation by keyboard, and takes it back", async (test) => {
    const { expect } = test;
    const { page, workspace, complaints } = await openUndo(browser(), test);
    await page.getByTestId("undo-plan").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "An undo would change these files" }).waitFor();
    expect(await files(page)).toEqual(["a.txt restore", "made.txt delete"]);
    expect(await focusedId(page)).toBe("undo-title");
    expect(await page.getByTestId("undo-confirm").textContent()).toBe("Undo 2 files");
    expect(await read(workspace, "a.txt")).toBe("two");

    await page.getByTestId("undo-confirm").focus();
    await page.keyboard.press("Enter");
    expect(await read(workspace, "a.txt")).toBe("two");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "The changes are undone" }).waitFor();
    expect(await files(page)).toEqual(["a.txt restored", "made.txt deleted"]);
    expect([await read(workspace, "a.txt"), await read(workspace, "made.txt")]).toEqual(["one", null]);
    await page.getByTestId("undo-row").waitFor();
    expect(await page.getByTestId("undo-row").textContent()).toMatch(/^Undone by dashboard, .*: 2 files$/);

    await page.getByTestId("undo-redo").click();
    await page.getByTestId("undo-redo").click();
    await page.getByText("Undo taken back by dashboard").waitFor();
    expect([await read(workspace, "a.txt"), await read(workspace, "made.txt")]).toEqual(["two", "made"]);
    expect(complaints).toEqual([]);
  });

  it("names a file that was changed since, and undoes the others", async (test) => {
    const { expect } = test;
    const { page, workspace } = await openUndo(browser(), test);
    await writeFile(path.join(workspace, "made.txt"), "by a person");
    await page.getByTestId("undo-plan").click();
    await page.getByText("a person or another program changed it since").waitFor();
    expect(await files(page)).toEqual(["a.txt restore", "made.txt conflict"]);
    expect(await auditPage(page, parts.selectedRun)).toEqual(nothingWrong);
    const confirm = page.getByTestId("undo-confirm");
    expect(await confirm.textContent()).toBe("Undo the other 1 file");
    await confirm.click();
    await confirm.click();
    await page.getByRole("heading", { name: "Some files were left" }).waitFor();
    expect([await read(workspace, "a.txt"), await read(workspace, "made.txt")]).toEqual(["one", "by a person"]);
  });
});

async function openUndo(browser: Parameters<typeof openPage>[0], test: Pick<TestContext, "onTestFinished">) {
  const home = await tempFolder("undo-page", test);
  const workspace = await tempFolder("undo-page-work", test);
  await writeFile(path.join(workspace, "a.txt"), "one");
  const steps = [
    { calls: [{ tool: "read", args: { path: "a.txt" } }] },
    { calls: [edit, write] },
    { text: "Changed." },
  ];
  const env = { TROUPE_MODEL: `scripted/${await writeScenario(home, { main: [{ steps }] })}` };
  const daemon = await startDaemonInProcess({ home, test, env });
  const { session } = await daemon.client.submit({ task: "change it", workspace, origin: "api" });
  const tab = await openPage(browser, daemon, { test });
  await tab.page.locator(`[data-session="${session}"]`).click();
  await sessionIs(tab.page, "completed");
  await rowOf(tab.page, "main").click();
  await tab.page.getByTestId("undo-plan").waitFor();
  return { ...tab, workspace };
}

/** Each file of the list, with its action or its result. */
function files(page: Page): Promise<string[]> {
  return page
    .getByTestId("undo-file")
    .evaluateAll((found) => found.map(({ dataset }) => `${dataset.path} ${dataset.action}`) as string[]);
}

function focusedId(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.activeElement?.id);
}

function read(workspace: string, name: string): Promise<string | null> {
  return readFile(path.join(workspace, name), "utf8").catch(() => null);
}
