import type { Page } from "playwright-core";
import { it } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import { startDemoDaemon, startKillableDemoDaemon } from "../harness/demo-daemon.ts";
import { connectionIs, linkOf, openTab } from "../harness/tab.ts";
import { demoRuns, rowOf, sessionIs, shownRuns, shownShape } from "../harness/tree-view.ts";

describeInChromium("a page whose daemon is killed", (browser) => {
  it("reports a lost connection, continues from its position when the daemon is back, and shows the end", async (test) => {
    const { expect } = test;
    const daemon = await startKillableDemoDaemon(test, 5);
    const { page, requests } = await openTab(browser(), { test });
    await noteStreams(page);
    await page.goto(linkOf(daemon));
    await page.getByTestId("run-demo").click();
    await rowOf(page, "coder").waitFor();

    await daemon.kill();
    await connectionIs(page, "lost");
    await page.getByRole("button", { name: "Try now" }).waitFor();
    expect(await page.getByTestId("run-row").count()).toBeGreaterThan(1);
    expect(await page.getByTestId("run-demo").isDisabled()).toBe(true);
    const loads = requests.filter(isLoad).length;

    const again = await daemon.startAgain();
    expect(again.url).toBe(daemon.url);
    await connectionIs(page, "live");
    await sessionIs(page, "completed");

    // The same tree as the record has it: nothing twice, nothing left out, nothing old.
    const shown = await shownRuns(page);
    expect(await shownShape(page)).toEqual(demoRuns);
    const [row] = (await again.client.sessions({ limit: 1 })).sessions;
    const detail = await again.client.session(row?.session ?? "");
    const recorded = detail?.runs.map(({ run, agent, depth, attempt, status }) => ({
      run,
      agent,
      depth,
      attempt,
      status,
    }));
    expect(shown.toSorted(byRun)).toEqual(recorded?.toSorted(byRun));
    const steps = await page.locator(".cell-steps").allTextContents();
    expect(steps.slice(1).map(Number.parseFloat).toSorted()).toEqual(
      detail?.runs.map(({ iterations }) => iterations).toSorted(),
    );

    // By sequence number: no reload of the page, none of its data.
    expect(requests.filter(isLoad)).toHaveLength(loads);
    const { streams, documents } = await streamsOf(page);
    expect(documents).toBe(1);
    expect(streams.length).toBeGreaterThan(1);
    let reached = streams[0]?.after ?? 0;
    for (const { after, positions, resyncs } of streams) {
      expect(after).toBe(reached);
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
      expect(positions.every((position) => position > after)).toBe(true);
      expect(resyncs).toBe(0);
      reached = Math.max(reached, ...positions);
    }
    expect(streams.at(-1)?.positions).not.toEqual([]);
    expect(requests.filter((url) => url.includes("/api/v1/events"))).toHaveLength(streams.length);
  });

  it("shows no progress while the daemon is away", async (test) => {
    const { expect } = test;
    // So slow that it is still at work whenever the test gets there.
    const daemon = await startKillableDemoDaemon(test, 0.2);
    const { page } = await openTab(browser(), { test });
    await page.clock.install();
    await page.goto(linkOf(daemon));
    await page.getByTestId("run-demo").click();
    const elapsed = rowOf(page, "main").locator(".cell-time .figure");
    // A pending run has no sign that turns.
    await page.locator(".spin").first().waitFor();
    await page.clock.fastForward(60_000);
    await page.waitForFunction(() => /^1m/.test(document.querySelector(".tree .figure")?.textContent ?? ""));

    await daemon.kill();
    await connectionIs(page, "lost");
    const before = await elapsed.textContent();
    await page.clock.fastForward(60_000);
    expect(await elapsed.textContent()).toBe(before);
    expect(
      await page
        .locator(".spin")
        .first()
        .evaluate((sign) => getComputedStyle(sign).animationPlayState),
    ).toBe("paused");
    expect(await page.getByTestId("cancel-session").isDisabled()).toBe(true);
  });
});

describeInChromium("a page whose daemon gives its address to another one", (browser) => {
  it("shows the data of the other daemon, and asks for its token", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon));
    await page.getByTestId("run-demo").click();
    await sessionIs(page, "completed");
    await daemon.stop();
    await connectionIs(page, "lost");

    const other = await startDemoDaemon(test, undefined, ["--port", new URL(daemon.url).port]);
    expect(other.url).toBe(daemon.url);
    await page.getByTestId("token-form").waitFor();
    expect(await page.getByTestId("run-row").count()).toBe(0);
    await page.getByLabel("Token").fill(other.token);
    await page.keyboard.press("Enter");
    await connectionIs(page, "live");
    await page.getByTestId("session-item").waitFor({ state: "detached" });
    expect(await page.getByTestId("run-row").count()).toBe(0);
  });
});

/** True for a request that reloads data instead of resuming the stream. */
function isLoad(url: string): boolean {
  return /\/api\/sessions(\?|\/)/.test(url) || new URL(url).pathname === "/";
}

function byRun(a: { run: string }, b: { run: string }): number {
  return a.run < b.run ? -1 : 1;
}

interface Stream {
  /** The position that it was asked to go on from. */
  after: number;
  /** The sequence numbers of the changes that it brought. */
  positions: number[];
  resyncs: number;
}

interface Noted {
  streams: Stream[];
  documents: number;
}

/** Records every event stream that the page opens, and its events. */
function noteStreams(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    const noted: Noted = { streams: [], documents: Number(sessionStorage.getItem("documents")) + 1 };
    sessionStorage.setItem("documents", String(noted.documents));
    Object.assign(window, { noted });
    const Native = window.EventSource;
    window.EventSource = class extends Native {
      constructor(url: string | URL) {
        super(url);
        const after = Number(new URL(this.url).searchParams.get("after"));
        const stream: Stream = { after, positions: [], resyncs: 0 };
        noted.streams.push(stream);
        this.addEventListener("change", (event) => stream.positions.push(Number(event.lastEventId)));
        this.addEventListener("resync", () => {
          stream.resyncs += 1;
        });
      }
    };
  });
}

function streamsOf(page: Page): Promise<Noted> {
  return page.evaluate(() => (window as unknown as { noted: Noted }).noted);
}
