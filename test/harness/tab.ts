import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { TestContext } from "vitest";
import type { InProcessDaemon } from "./daemon.ts";

/** A tab of a browser, and all that it asked for or complained of since it was opened. */
export interface Tab {
  page: Page;
  context: BrowserContext;
  /** Addresses of all requests of the whole profile, in order. */
  requests: string[];
  /** Errors on the console, thrown errors, and breaches of the content policy. */
  complaints: string[];
}

export interface TabOptions extends BrowserContextOptions {
  /** Closes the profile when this test is over, however it ends. */
  test: Pick<TestContext, "onTestFinished">;
}

/** No condition of a healthy page takes longer, on a machine however busy. */
export const patienceMs = 60_000;

/** Opens an empty tab in a profile of its own: no cookie and no storage of any other test. */
export async function openTab(browser: Browser, { test, ...options }: TabOptions): Promise<Tab> {
  // Signs that turn for ever keep a machine without a graphics card busy.
  const still = { reducedMotion: "reduce" } as const;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...still, ...options });
  test.onTestFinished(() => context.close());
  context.setDefaultTimeout(patienceMs);
  const requests: string[] = [];
  const complaints: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  context.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  context.on("weberror", (error) => complaints.push(String(error.error())));
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`content policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return { page: await context.newPage(), context, requests, complaints };
}

/** The link that `troupe up` prints. */
export function linkOf({ url, token }: InProcessDaemon, query = ""): string {
  return `${url}/${query}#token=${token}`;
}

export interface PageOptions extends TabOptions {
  /** The query of the page's address, such as `?session=ID`. @default the start page */
  query?: string;
}

/** Opens a daemon's link in a new profile and waits until the page is live. */
export async function openPage(browser: Browser, daemon: InProcessDaemon, options: PageOptions): Promise<Tab> {
  const { query, ...others } = options;
  const tab = await openTab(browser, others);
  await tab.page.goto(linkOf(daemon, query));
  await connectionIs(tab.page, "live");
  return tab;
}

/** Waits until the page says so. */
export async function connectionIs(page: Page, state: "live" | "lost" | "unauthorised"): Promise<void> {
  await page.locator(`[data-testid="connection"][data-state="${state}"]`).waitFor();
}

/** Presses Tab until the focus is there. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${selector}`);
}
