/**
 * `pnpm pictures`: draws docs/images/page-light.png and page-dark.png, the pictures of the README. It plays the demo in
 * an empty home and photographs the live page at a moment when several agents work.
 */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";
import { launchChromium } from "../harness/chromium.ts";
import { startDaemon } from "../harness/daemon.ts";
import { linkOf } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { rowOf } from "../harness/tree-view.ts";

const folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const cleanups: (() => unknown)[] = [];
const test: Pick<TestContext, "onTestFinished"> = {
  onTestFinished: (cleanup) => void cleanups.unshift(cleanup as () => unknown),
};

try {
  await draw();
} finally {
  for (const cleanup of cleanups) await cleanup();
}

async function draw(): Promise<void> {
  const daemon = await startDaemon({ home: await tempFolder("demo", test), test });
  const { opened, close } = await launchChromium();
  cleanups.unshift(close);
  const page = await opened.newPage({
    viewport: { width: 1200, height: 520 },
    deviceScaleFactor: 1.5,
    reducedMotion: "reduce",
  });
  await page.goto(linkOf(daemon));
  await page.getByTestId("run-demo").click();
  // A failure, its retry and a nested delegation are visible at once, and three agents work.
  await page.locator('[data-attempt="2"]').waitFor();
  await rowOf(page, "tester")
    .filter({ hasText: /[1-9]\d* tool/ })
    .waitFor();
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const file = `${folder}page-${colorScheme}.png`;
    await page.screenshot({ path: file });
    console.log(file);
  }
}
