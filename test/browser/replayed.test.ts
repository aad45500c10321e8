/** A session that repeats a recorded one says so wherever it is shown. */
import path from "node:path";
import { readSessionFeed } from "@troupe/recorder";
import { createReplayProvider, readRecording } from "@troupe/runtime";
import { createTroupe, type TroupeOptions } from "troupe";
import type { TestContext } from "vitest";
import { it } from "vitest";
import { auditPage, nothingWrong } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { openPage } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const session = "0198a111-0000-7000-8000-000000000001";
const main = { id: "main", description: "Answers.", prompt: "You answer." };

/** Records a session with a script, and repeats it from the recording in a new home. */
async function replaySession(test: Pick<TestContext, "onTestFinished">) {
  const [recorded, home] = [await tempFolder("recorded", test), await tempFolder("replayed", test)];
  const scenario = await writeScenario(recorded, { main: [{ steps: [{ text: "hello" }] }] }, "hello");
  const optionsFor = (folder: string): TroupeOptions => ({
    agents: [main],
    tools: [],
    workspace: recorded,
    env: { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: folder },
  });
  {
    await using first = await createTroupe({ ...optionsFor(recorded), model: `scripted/${scenario}` });
    await first.run("say hello", { session });
  }
  const feed = await readSessionFeed({ file: path.join(recorded, "journal.db"), session });
  const replay = createReplayProvider({ recording: readRecording(feed, session) });
  const model = `replay/${session}`;
  await using second = await createTroupe({ ...optionsFor(home), providers: [replay], model });
  const response = await second.run("say hello", { session });
  return { home, response, row: await second.sessions.get(session) };
}

describeInChromium("a replayed session", (browser) => {
  it("is labelled in the record, the API, the command line and the page", async (test) => {
    const { expect } = test;
    const { home, response, row } = await replaySession(test);
    expect(response).toMatchObject({ status: "completed", summary: "hello" });
    expect(row?.session).toMatchObject({ demo: true, replay: true });
    const shown = await troupe(["sessions", "show", session], { home });
    expect(shown.stdout).toMatch(/replay +recorded, offline; no model was called, \$0/);
    expect(shown.stdout).not.toMatch(/demo +scripted/);
    expect(JSON.parse((await troupe(["sessions", "ls", "--json"], { home })).stdout)).toMatchObject([{ replay: true }]);

    const { page } = await openPage(browser(), await startDaemonInProcess({ home, test }), { test });
    await page.getByRole("link", { name: /say hello/ }).click();
    const tags = page.locator('.demo-tag[data-replay="true"]');
    await tags.filter({ hasText: "Replay: recorded, no model was called" }).first().waitFor();
    expect(await tags.allTextContents()).toContain("Replay");
    expect(await page.locator('.demo-tag[data-replay="false"]').count()).toBe(0);
    expect(await auditPage(page, ".demo-tag")).toEqual(nothingWrong);
  });
});
