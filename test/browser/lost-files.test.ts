import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { it } from "vitest";
import { cardOf } from "../harness/approval-cards.ts";
import { auditPage, nothingWrong, parts } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { writeSampleRepository } from "../harness/sample-repository.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { linkOf, openTab } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { sessionIs } from "../harness/tree-view.ts";

const agents = {
  main: [{ steps: [{ calls: [{ tool: "shell", args: { command: "rm -rf drafts" } }] }, { text: "Done." }] }],
};

describeInChromium("the card of an approval", (browser) => {
  it("lists the files that git does not have, before they are deleted", async (test) => {
    const { expect } = test;
    const workspace = await tempFolder("lost-files", test);
    await writeSampleRepository(workspace);
    await mkdir(path.join(workspace, "drafts"));
    const names = Array.from({ length: 30 }, (_, i) => `chapter-${String(i).padStart(2, "0")}.md`);
    for (const name of names) await writeFile(path.join(workspace, "drafts", name), "x".repeat(1500));
    const daemon = await startScriptedDaemon({ test, agents });
    const { page } = await openTab(browser(), { test });
    const { session } = await daemon.client.submit({ task: "Clean up", workspace, origin: "api" });
    await page.goto(linkOf(daemon, `?session=${session}`));
    const lost = cardOf(page, "main asks for shell").getByTestId("lost-files");
    await lost.waitFor();
    expect(await lost.locator("p").first().textContent()).toBe(
      "Deletes or overwrites 30 files that git does not have 45.0 kB",
    );
    expect(await lost.locator("li code").allTextContents()).toEqual(names.slice(0, 20).map((name) => `drafts/${name}`));
    expect(await lost.locator("p").last().textContent()).toBe("and 10 others");
    expect(await auditPage(page, parts.card)).toEqual(nothingWrong);
    expect(existsSync(path.join(workspace, "drafts"))).toBe(true);
    await cardOf(page, "main asks for shell").getByTestId("approve-once").click();
    await sessionIs(page, "completed");
    expect(existsSync(path.join(workspace, "drafts"))).toBe(false);
  });
});
