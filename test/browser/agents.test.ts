import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { it } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import { openMoreOptions } from "../harness/more-options.ts";
import { openPage } from "../harness/tab.ts";

describeInChromium("the agents of the page", (browser) => {
  it("follow their files, and name unknown tools and unusable agents", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { page } = await openPage(browser(), daemon, { test });
    await openMoreOptions(page);
    const select = page.getByRole("combobox", { name: "Agent that starts" });
    await select.waitFor();
    expect(await page.getByTestId("agent-problems").count()).toBe(0);

    const folder = path.join(daemon.home, "agents");
    await mkdir(folder);
    const front = "description: d\ntools: Raed, githubRepo";
    await writeFile(path.join(folder, "clerk.md"), `---\n${front}\n---\nDo it.\n`);
    const option = page.locator("option", { hasText: "clerk: unusable" });
    await option.waitFor({ state: "attached" });
    expect(await option.isDisabled()).toBe(true);
    const problems = page.getByTestId("agent-problems");
    await problems.getByText("3 problems in agent files").click();
    await problems.getByText("did you mean read?").waitFor();
    await problems.getByText('"githubRepo", which has no counterpart here').waitFor();

    await writeFile(path.join(folder, "clerk.md"), "---\ndescription: d\ntools: Read\n---\nDo it.\n");
    await problems.waitFor({ state: "detached" });
    await select.selectOption("clerk");
  });
});
