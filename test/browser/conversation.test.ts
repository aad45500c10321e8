import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { it, type TestContext } from "vitest";
import { auditPage, nothingWrong, parts } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { lure } from "../harness/hostile-texts.ts";
import { atGate, delegate, gate, openGate } from "../harness/scripted-calls.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { openPage } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

const markdown = `# Findings

The test is **flaky**: see \`clock.ts\` and [the guide](https://example.test/guide).

- it waits for a *clock*
- [x] found

| file | line |
| --- | --- |
| clock.ts | 12 |

> quoted

\`\`\`ts
const a = "<b>";
\`\`\`

<img src="${lure}/x.png" onerror="window.hacked = 1"> <script>window.hacked = 1</script>
![secret](${lure}/y.png) [run](javascript:window.hacked=1) ${">".repeat(400)} deep
`;

const hostileFile = "plain \u001b[31mred\u202e <b>bold</b>\n";

const partsOf = (page: Page) =>
  page.locator(".conversation-part").evaluateAll((parts) => parts.map((part) => (part as HTMLElement).dataset.kind));

const part = (page: Page, kind: string) => page.locator(`.conversation-part[data-kind="${kind}"]`);

async function startConversation(test: Pick<TestContext, "onTestFinished">) {
  const workspace = await tempFolder("conversation", test);
  await writeFile(path.join(workspace, "notes.md"), hostileFile);
  const daemon = await startScriptedDaemon({
    test,
    agents: {
      main: [{ steps: [{ text: "I ask.", calls: [delegate("helper", "find it")] }, { text: markdown }] }],
      helper: [
        {
          steps: [
            { text: "First I read.", calls: [{ tool: "read", args: { path: "notes.md" } }] },
            { calls: [gate("go")] },
            { text: "The clock." },
          ],
        },
      ],
    },
    files: {
      "agents/main.md": "---\ndescription: m\nsubagents: {allow: [helper]}\n---\nLead the work.\n",
      "agents/helper.md": "---\ndescription: h\n---\nWork.\n",
    },
  });
  const { session } = await daemon.client.submit({ task: "go", agent: "main", origin: "api", workspace });
  await atGate(workspace, "go");
  return { daemon, query: `?session=${session}&tab=conversation`, finish: () => openGate(workspace, "go") };
}

describeInChromium("the conversation of a run", (browser) => {
  const finished = useShared(async (test) => {
    const conversation = await startConversation(test);
    await conversation.finish();
    return conversation;
  });

  it("grows while the run works, with calls, arguments and results, and leads to the conversation of a child", async (test) => {
    const { expect } = test;
    const { daemon, query, finish } = await startConversation(test);
    const { page, complaints } = await openPage(browser(), daemon, { test, query });
    await rowOf(page, "helper").click();
    await part(page, "result").waitFor();
    expect(await partsOf(page)).toEqual(["request", "reply", "result", "reply"]);
    expect(await part(page, "request").textContent()).toContain("find it");
    const call = page.getByTestId("conversation-call").first();
    expect(await call.textContent()).toContain("readpathnotes.md");
    // The characters that a terminal or a reader would obey are visible.
    expect(await part(page, "result").first().textContent()).toContain("plain ⟨U+001B⟩[31mred⟨U+202E⟩ <b>bold</b>");

    await finish();
    await part(page, "answer").waitFor();
    expect((await partsOf(page)).slice(4)).toEqual(["result", "reply", "answer"]);

    await rowOf(page, "main").click();
    await part(page, "answer").waitFor();
    expect(await partsOf(page)).toEqual(["request", "reply", "note", "result", "reply", "answer"]);
    await page.getByRole("button", { name: "Show the conversation of helper" }).click();
    await page.locator("#run-title", { hasText: "helper" }).waitFor();
    expect(await part(page, "request").textContent()).toContain("find it");
    expect(complaints).toEqual([]);
  });

  it("renders Markdown, and neither HTML nor images nor scripts of a text", async (test) => {
    const { expect } = test;
    const { daemon, query } = finished();
    const { page, complaints, requests } = await openPage(browser(), daemon, { test, query });
    await sessionIs(page, "completed");
    await rowOf(page, "main").click();
    const answer = part(page, "answer").getByTestId("markdown");
    await answer.waitFor();
    expect(await answer.locator("strong").textContent()).toBe("flaky");
    expect(await answer.locator("li").count()).toBe(2);
    expect(await answer.locator("td").allTextContents()).toEqual(["clock.ts", "12"]);
    expect(await answer.locator("pre").textContent()).toBe('const a = "<b>";');
    expect(
      await answer
        .locator("a")
        .evaluateAll((links) =>
          links.map((link) => [link.textContent, link.getAttribute("href"), link.getAttribute("rel")]),
        ),
    ).toEqual([["the guide", "https://example.test/guide", "noopener noreferrer nofollow"]]);
    const text = (await answer.textContent()) ?? "";
    expect(text).toContain("<script>window.hacked = 1</script>");
    expect(text).toContain("[image: secret]");
    expect(text).toContain("run (javascript:window.hacked=1)");
    expect(await page.locator(".run-panel img, .run-panel script, .run-panel b, .run-panel iframe").count()).toBe(0);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([daemon.url]));
    expect(complaints).toEqual([]);
  });

  it("is a tab for the keyboard, stays in the link, and fits light, dark and narrow pages", async (test) => {
    const { expect } = test;
    const { daemon, query } = finished();
    const { page } = await openPage(browser(), daemon, { test, query });
    await sessionIs(page, "completed");
    await rowOf(page, "main").click();
    await part(page, "answer").waitFor();
    await expect.poll(() => page.url()).toMatch(/run=.*tab=conversation/);
    expect(await auditPage(page, parts.selectedRun)).toEqual(nothingWrong);
    const { TROUPE_PICTURES: folder } = process.env;
    if (folder) await takePictures(page, folder);

    await page.getByRole("tab", { name: "Conversation" }).focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("tab", { name: "Details", selected: true }).waitFor();
    expect(await page.getByTestId("conversation").count()).toBe(0);
    expect(page.url()).not.toContain("tab=");
    await page.keyboard.press("ArrowRight");
    await page.reload();
    await part(page, "answer").waitFor();
    expect(await page.getByRole("tab", { name: "Conversation" }).getAttribute("aria-selected")).toBe("true");
  });
});

async function takePictures(page: Page, folder: string): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.screenshot({ path: path.join(folder, `conversation-${scheme}.png`) });
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 800 });
  await page.screenshot({ path: path.join(folder, "conversation-narrow.png") });
  if (size) await page.setViewportSize(size);
}
