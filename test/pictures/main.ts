/**
 * `pnpm pictures`: draws docs/images/page-light.png and page-dark.png, the pictures of the README, and office-light.png and
 * office-dark.png, those of the guide to the office. It plays the demo in an empty home and photographs the live page at a
 * moment when several agents work; then it photographs two requests for approval of the sample company.
 */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import type { TestContext } from "vitest";
import { launchChromium } from "../harness/chromium.ts";
import { startDaemon } from "../harness/daemon.ts";
import { createOfficeHome } from "../harness/office-home.ts";
import { linkOf } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { rowOf } from "../harness/tree-view.ts";
import { until } from "../harness/until.ts";

const folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const cleanups: (() => unknown)[] = [];
const test: Pick<TestContext, "onTestFinished"> = {
  onTestFinished: (cleanup) => void cleanups.unshift(cleanup as () => unknown),
};

const requests = [
  'Send an email to john@acme.example and mara@office.local with subject "Beta on Friday" saying "The beta opens on Friday."',
  "Schedule a contract review with carl@globex.example next Tuesday 4pm",
];

try {
  await drawDemo();
  await drawOffice();
} finally {
  for (const cleanup of cleanups) await cleanup();
}

async function drawDemo(): Promise<void> {
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
  await photograph(page, "page", page);
}

async function drawOffice(): Promise<void> {
  const daemon = await startDaemon({ home: await createOfficeHome(test), test });
  for (const task of requests) await daemon.client.submit({ task, team: "office", origin: "api" });
  await until(async () => (await daemon.client.approvals()).approvals.length === requests.length);
  const { opened, close } = await launchChromium();
  cleanups.unshift(close);
  const page = await opened.newPage({
    viewport: { width: 960, height: 900 },
    deviceScaleFactor: 1.25,
    reducedMotion: "reduce",
  });
  await page.goto(linkOf(daemon));
  await page.getByTestId("approvals-link").click();
  await page.getByTestId("call-preview").nth(1).waitFor();
  await photograph(page, "office", page.locator(".approval-cards"));
}

/** Takes one picture in each colour scheme. */
async function photograph(page: Page, name: string, subject: Pick<Page, "screenshot">): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const file = `${folder}${name}-${colorScheme}.png`;
    await subject.screenshot({ path: file });
    console.log(file);
  }
}
