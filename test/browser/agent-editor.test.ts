import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { it } from "vitest";
import { auditPage, nothingWrong } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import { hostileTexts } from "../harness/hostile-texts.ts";
import { openMoreOptions } from "../harness/more-options.ts";
import { connectionIs, openPage, tabTo } from "../harness/tab.ts";

const clerk = `---
# Mine.
name: clerk
colour: blue
description: Files documents
tools: [read, Raed] # few
subagents:
  allow: [coder]
---

You file documents.
`;

const itemOf = (page: Page, agent: string) => page.locator(`[data-testid="agent-item"][data-agent="${agent}"]`);
const unsaved = (page: Page) => page.getByText("Unsaved changes");
const errors = (page: Page) => page.locator('.draft-problems > [data-severity="error"]');

async function startWithAgents(test: Parameters<typeof startDemoDaemon>[0], files: Record<string, string>) {
  const daemon = await startDemoDaemon(test);
  const folder = path.join(daemon.home, "agents");
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  return { daemon, fileOf: (name: string) => path.join(folder, name) };
}

async function save(page: Page): Promise<void> {
  await page.getByTestId("review-agent").click();
  await page.getByTestId("review").getByTestId("diff").waitFor();
  await page.getByTestId("save-agent").click();
  await page.getByTestId("review").waitFor({ state: "hidden" });
}

describeInChromium("the agent editor", (browser) => {
  it("lists every definition with its source, what it can do, and its problems", async (test) => {
    const { expect } = test;
    const { daemon } = await startWithAgents(test, {
      "clerk.md": clerk,
      "broken.md": "---\nname: broken\ndescription: d\nmaxTurns: x\n---\nx\n",
      "reader.md": "---\ndescription: d\ntools: [read, glob]\n---\nx\n",
      "tester.md": "---\ndescription: d\ntroupe: {disabled: true}\n---\nx\n",
    });
    const { page, complaints } = await openPage(browser(), daemon, { test });
    await page.getByTestId("edit-agents").click();
    await itemOf(page, "clerk").waitFor();
    expect(await itemOf(page, "clerk").textContent()).toMatch(/clerkyours2 problemsFiles documentsdelegates/);
    expect(await itemOf(page, "reader").textContent()).toContain("reads only");
    expect(await itemOf(page, "broken").getAttribute("data-state")).toBe("error");
    expect(await itemOf(page, "tester").getAttribute("data-state")).toBe("disabled");
    expect(await itemOf(page, "coder").textContent()).toMatch(/shipped.*changes files.*runs commands.*delegates/);
    expect(await itemOf(page, "coding_planner").textContent()).toContain("team coding");
    const { agents } = await daemon.client.agentFiles.list(null);
    expect(await page.getByTestId("agent-item").count()).toBe(agents.length);
    await page.getByRole("searchbox").fill("clerk DOCUMENTS");
    await itemOf(page, "coder").waitFor({ state: "detached" });
    expect(await page.getByTestId("agent-item").count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("edits with pickers, checks while it edits, shows the difference, and keeps the rest of the file", async (test) => {
    const { expect } = test;
    const { daemon, fileOf } = await startWithAgents(test, { "clerk.md": clerk });
    const { page } = await openPage(browser(), daemon, { test, query: "?view=agents&agent=clerk" });
    const tools = page.getByTestId("pick-tools");
    await tools.locator('[data-name="Raed"][data-unknown="true"]').waitFor();
    await page.getByTestId("draft-problems").getByText('clerk: tools names "Raed", but no tool here').waitFor();
    expect(await page.getByTestId("review-agent").isDisabled()).toBe(true);
    await tools.getByRole("button", { name: "read?" }).click();
    await tools.locator('[data-name="Raed"]').waitFor({ state: "detached" });

    await page.getByRole("combobox", { name: "Allowed tools" }).click();
    await page.keyboard.type("shel");
    await page.locator('.picker-list [data-name="shell"]').waitFor();
    await page.keyboard.press("Enter");
    await page.getByTestId("reach").locator('[data-ability="runs_commands"]').waitFor();
    await page.getByRole("combobox", { name: "Denied tools" }).click();
    await page.locator('.picker-list [data-name="write"]').click();
    await page.getByRole("combobox", { name: "May delegate to", exact: true }).click();
    await page.keyboard.type("revie");
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "May never delegate to" }).fill("tester");
    await page.keyboard.press("Enter");
    await page.getByText("Limits", { exact: true }).click();
    await page.getByLabel("maxDepth").fill("1");
    await page.getByLabel("Model").fill("haiku");
    await unsaved(page).waitFor();
    expect(await readFile(fileOf("clerk.md"), "utf8")).toBe(clerk);

    await page.getByTestId("review-agent").click();
    const diff = page.getByTestId("review").getByTestId("diff");
    expect(await diff.locator('[data-kind="removed"]').allTextContents()).toEqual([
      expect.stringContaining("tools: [read, Raed] # few"),
      expect.stringContaining("allow: [coder]"),
    ]);
    await page.getByTestId("save-agent").click();
    await page.getByTestId("review").waitFor({ state: "hidden" });
    expect(await readFile(fileOf("clerk.md"), "utf8")).toBe(`---
# Mine.
name: clerk
colour: blue
description: Files documents
tools: [read, shell] # few
subagents:
  allow: [coder, reviewer]
  deny: [tester]
model: haiku
disallowedTools: [write]
troupe:
  limits:
    maxDepth: 1
---

You file documents.
`);
    await page.getByText("No changes").waitFor();
    await itemOf(page, "clerk").getByText("runs commands").waitFor();
    expect(await itemOf(page, "clerk").textContent()).toContain("haiku");
    const registry = await daemon.client.agents(null);
    expect(registry.agents.find(({ id }) => id === "clerk")).toMatchObject({
      tools: ["read", "shell"],
      subagents: ["coder", "reviewer"],
    });
  });

  it("does not save a cycle of delegations, an agent without a usable tool, or a wrong limit", async (test) => {
    const { expect } = test;
    const boss = "---\ndescription: d\nsubagents: {allow: [clerk]}\n---\nx\n";
    const { daemon, fileOf } = await startWithAgents(test, { "clerk.md": clerk, "boss.md": boss });
    const { page } = await openPage(browser(), daemon, { test, query: "?view=agents&agent=clerk" });
    const refused = async (message: string): Promise<void> => {
      await errors(page).filter({ hasText: message }).waitFor();
      expect(await page.getByTestId("review-agent").isDisabled()).toBe(true);
    };
    await page.getByRole("combobox", { name: "May delegate to", exact: true }).fill("boss");
    await page.keyboard.press("Enter");
    await refused("clerk → boss → clerk");
    await page.getByText("The change would cause problems in other files").waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await errors(page).waitFor({ state: "detached" });

    const tools = page.getByTestId("pick-tools");
    await tools.getByRole("button", { name: "Remove read", exact: true }).click();
    await page.getByTestId("pick-allow").getByRole("button", { name: "Remove coder" }).click();
    await refused('none of its tools exists here: "Raed"');
    await page.getByRole("button", { name: "Discard" }).click();

    await page.getByText("Limits", { exact: true }).click();
    await page.getByLabel("maxIterations").fill("many");
    await refused("maxIterations");
    await page.getByLabel("maxIterations").fill("5");
    await unsaved(page).waitFor();
    expect(await readFile(fileOf("clerk.md"), "utf8")).toBe(clerk);
  });

  it("copies a shipped agent, switches the copy off and on, and deletes it after a second press", async (test) => {
    const { expect } = test;
    const { daemon, fileOf } = await startWithAgents(test, {});
    const { page } = await openPage(browser(), daemon, { test, query: "?view=agents&agent=tester" });
    await page.getByTestId("copy-agent").waitFor();
    expect(await page.getByTestId("review-agent").count()).toBe(0);
    expect(await page.getByLabel("Model").isDisabled()).toBe(true);
    await page.getByTestId("copy-agent").click();
    await page.getByText("Your copy replaces the shipped agent tester").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("Description").fill("Tests my way");
    await page.getByText("Not saved yet").waitFor();
    await expect(stat(fileOf("tester.md"))).rejects.toThrow();
    await save(page);
    expect(await readFile(fileOf("tester.md"), "utf8")).toContain("description: Tests my way\n");
    await page.getByText("replaces the shipped one").waitFor();

    await page.getByTestId("switch-agent").click();
    await page.locator('[data-testid="agent-item"][data-agent="tester"][data-state="disabled"]').waitFor();
    expect(await readFile(fileOf("tester.md"), "utf8")).toContain("disabled: true");
    await page.getByRole("button", { name: "Enable" }).click();
    await page.locator('[data-testid="agent-item"][data-agent="tester"][data-state="usable"]').waitFor();
    await page.getByTestId("delete-agent").click();
    expect((await stat(fileOf("tester.md"))).isFile()).toBe(true);
    await page.getByRole("button", { name: "Really delete?" }).click();
    await itemOf(page, "tester").getByText("shipped").waitFor();
    await expect(stat(fileOf("tester.md"))).rejects.toThrow();
  });

  it("makes a new agent, which can start a session at once", async (test) => {
    const { expect } = test;
    const { daemon, fileOf } = await startWithAgents(test, { "clerk.md": clerk });
    const { page } = await openPage(browser(), daemon, { test, query: "?view=agents" });
    await page.getByTestId("new-agent").click();
    await page.getByLabel("Name").fill("clerk");
    await page.getByText("clerk exists already").waitFor();
    expect(await page.getByRole("button", { name: "Continue" }).isDisabled()).toBe(true);
    await page.getByLabel("Name").fill("../x");
    await page.getByRole("button", { name: "Continue" }).click();
    expect(await page.getByTestId("new-agent-form").count()).toBe(1);
    await page.getByLabel("Name").fill("archivist");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("Description").fill("Keeps things");
    await page.getByLabel("Prompt").fill("You keep things.");
    await page.getByText("Not saved yet").waitFor();
    await save(page);
    expect(await readFile(fileOf("archivist.md"), "utf8")).toMatch(
      /# When to delegate.*\n.*Keeps things[\s\S]*\n---\n\nYou keep things\.\n$/,
    );
    await openMoreOptions(page);
    await page.getByRole("combobox", { name: "Agent that starts" }).selectOption("archivist");
  });

  it("follows the file on the disk, and never overwrites a version that the user has not seen", async (test) => {
    const { expect } = test;
    const { daemon, fileOf } = await startWithAgents(test, { "clerk.md": clerk });
    const { page } = await openPage(browser(), daemon, { test, query: "?view=agents&agent=clerk" });
    await page.getByLabel("Description").waitFor();
    await writeFile(fileOf("clerk.md"), clerk.replace("Files documents", "Files letters"));
    await expect.poll(() => page.getByLabel("Description").inputValue()).toBe("Files letters");

    await page.getByLabel("Model").fill("haiku");
    await unsaved(page).waitFor();
    const theirs = clerk.replace("Files documents", "Files maps");
    await writeFile(fileOf("clerk.md"), theirs);
    await page.getByTestId("stale-file").waitFor();
    expect(await page.getByTestId("review-agent").isDisabled()).toBe(true);
    expect(await page.getByLabel("Model").inputValue()).toBe("haiku");
    // The edit survives another view of the page.
    await page.getByTestId("hosts-link").click();
    await page.goBack();
    expect(await page.getByLabel("Model").inputValue()).toBe("haiku");
    await page.getByRole("button", { name: "Discard my changes and load the new file" }).click();
    await expect.poll(() => page.getByLabel("Description").inputValue()).toBe("Files maps");
    expect(await page.getByLabel("Model").inputValue()).toBe("");
    expect(await readFile(fileOf("clerk.md"), "utf8")).toBe(theirs);
    await rm(fileOf("clerk.md"));
    await page.getByText("No agent is called clerk here.").waitFor();
  });

  it("edits the text of a file that its fields cannot express", async (test) => {
    const { expect } = test;
    const broken = "---\nname: clerk\ndescription: d\n\nDo it.\n";
    const { daemon, fileOf } = await startWithAgents(test, { "clerk.md": broken });
    const { page } = await openPage(browser(), daemon, { test, query: "?view=agents&agent=clerk" });
    const text = page.getByLabel("Text of the file");
    await errors(page).first().waitFor();
    expect(await text.inputValue()).toBe(broken);
    const mended = broken.replace("\n\n", "\n---\n\n");
    await text.fill(mended);
    await errors(page).first().waitFor({ state: "detached" });
    await save(page);
    expect(await readFile(fileOf("clerk.md"), "utf8")).toBe(mended);
  });

  it("shows hostile text as text", async (test) => {
    const { expect } = test;
    const evil = Object.values(hostileTexts).slice(0, 5).join(" ").replaceAll('"', "'");
    const { daemon } = await startWithAgents(test, {
      "clerk.md": `---\ndescription: "${evil}"\ntools: ["${evil.slice(0, 90)}", read]\n"${evil.slice(0, 60)}": 1\n---\n${evil}\n`,
    });
    const { page, requests, complaints } = await openPage(browser(), daemon, {
      test,
      query: "?view=agents&agent=clerk",
    });
    await page.getByLabel("Description").waitFor();
    expect(await page.getByLabel("Description").inputValue()).toContain("<img src=x onerror=");
    await page.getByLabel("Model").fill("haiku");
    await unsaved(page).waitFor();
    await page.getByTestId("review-agent").click();
    await page.getByTestId("review").getByTestId("diff").waitFor();
    expect(await page.locator("#root img, #root script, #root iframe, #root style, #root base").count()).toBe(0);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([daemon.url]));
    expect(complaints).toEqual([]);
  });

  it("passes axe in light and dark, fits into 360 pixels, and is usable with the keyboard alone", async (test) => {
    const { expect } = test;
    const { daemon, fileOf } = await startWithAgents(test, { "clerk.md": clerk });
    const { page } = await openPage(browser(), daemon, { test, query: "?view=agents" });
    await itemOf(page, "clerk").waitFor();
    expect(await auditPage(page)).toEqual(nothingWrong);
    await itemOf(page, "clerk").focus();
    await page.keyboard.press("Enter");
    await page.getByTestId("reach").waitFor();
    expect(await auditPage(page, "[data-testid=agent-editor]")).toEqual(nothingWrong);
    await page.getByLabel("Model").focus();
    await page.keyboard.type("haiku");
    await unsaved(page).waitFor();
    await tabTo(page, "[data-testid=review-agent]");
    await page.keyboard.press("Enter");
    await page.getByTestId("diff").waitFor();
    expect(await auditPage(page, "[data-testid=review]")).toEqual(nothingWrong);
    await tabTo(page, "[data-testid=save-agent]");
    await page.keyboard.press("Enter");
    await page.getByTestId("review").waitFor({ state: "hidden" });
    expect(await readFile(fileOf("clerk.md"), "utf8")).toContain("model: haiku");
    await page.getByTestId("new-agent").click();
    await page.locator("[data-testid=new-agent-form] input:focus").waitFor();
    expect(await auditPage(page, "[data-testid=new-agent-form]")).toEqual(nothingWrong);
  });

  it("stays fluent with 400 agents", async (test) => {
    const { expect } = test;
    const many = Array.from({ length: 400 }, (_, i) => [`a${i}.md`, `---\ndescription: Agent ${i}\n---\nx\n`]);
    const { daemon } = await startWithAgents(test, Object.fromEntries(many));
    const { page } = await openPage(browser(), daemon, { test, query: "?view=agents&agent=a399" });
    await page.getByLabel("Description").waitFor();
    expect(await page.getByTestId("agent-item").count()).toBeGreaterThan(400);
    await page.getByRole("combobox", { name: "May delegate to", exact: true }).fill("a12");
    await page.locator('.picker-list [data-name="a12"]').click();
    await page.getByTestId("reach").getByText("a12").waitFor();
    await connectionIs(page, "live");
  });
});
