import { accessSync, constants, rmSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Browser, chromium } from "playwright-core";
import { beforeAll, describe } from "vitest";

/** Why tests are skipped where there is no browser. Stands in their names, so that the report shows it. */
export const chromiumMissing = "no Chromium: install it, or name one in TROUPE_TEST_CHROMIUM";

/** A name that leads to this machine, as a hostile DNS server would have it. No other name leads anywhere. */
export const reboundHost = "rebound.test";

/**
 * Chromium obeys only the last list of features that it is given, so this list begins with the features that Playwright
 * disables on this system. The last three start renderers that no test uses: the two pages of Chromium's own address bar for
 * the first tab of each profile, which take three times the processor time of our page, and a spare one for the next page.
 */
const disabledFeatures = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "SpareRendererForSitePerProcess",
];

const flags = [
  "--disable-gpu",
  // Without a graphics card, its process only passes pictures on.
  "--in-process-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  `--disable-features=${disabledFeatures.join(",")}`,
  // No request of a page may leave this machine.
  `--host-resolver-rules=MAP ${reboundHost} 127.0.0.1,MAP * ~NOTFOUND,EXCLUDE 127.0.0.1,EXCLUDE localhost`,
];

/** The binary: the one named in the environment, else the distribution's. Null when there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  const file = env.TROUPE_TEST_CHROMIUM || "/usr/bin/chromium";
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? file : null;
  } catch {
    return null;
  }
}

/**
 * A group of tests that run side by side, each in a profile of its own (see `openTab`), in the browser of this process. On
 * a machine without a browser the group is skipped, and its name has the reason.
 */
export function describeInChromium(name: string, define: (browser: () => Browser) => void): void {
  if (findChromium() === null) describe.skip(`${name} (${chromiumMissing})`, () => define(unopened));
  else describe.concurrent(name, () => define(useChromium()));
}

/** Kept on the global object, because files that share a worker load this module again. */
const key = Symbol.for("troupe.testChromium");
const holder = globalThis as { [key]?: Promise<Browser> };

function useChromium(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const before = await holder[key]?.catch(() => null);
    if (!before?.isConnected()) holder[key] = launchForProcess();
    browser = await holder[key];
  });
  return () => browser ?? unopened();
}

/** It ends with this process at the latest: Playwright kills it then. */
async function launchForProcess(): Promise<Browser> {
  const { opened, home } = await launchChromium();
  process.once("exit", () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  return opened;
}

function unopened(): never {
  throw new Error("used outside of a test");
}

/** Runs as root too, with a home of its own: the user's settings neither change a test nor are changed by it. */
export async function launchChromium(): Promise<{ opened: Browser; home: string; close(): Promise<void> }> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error(chromiumMissing);
  const home = await mkdtemp(path.join(tmpdir(), "troupe-chromium-"));
  const env = { PATH: process.env.PATH ?? "", HOME: home, TMPDIR: home, LANG: "C.UTF-8" };
  const opened = await chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: flags, env });
  return {
    ...{ opened, home },
    async close() {
      await opened.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
