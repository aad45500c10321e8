import { it } from "vitest";
import { describeInChromium } from "../harness/chromium.ts";
import { startDemoDaemon, useDemoDaemon } from "../harness/demo-daemon.ts";
import { connectionIs, linkOf, openTab } from "../harness/tab.ts";

describeInChromium("the dashboard", (browser) => {
  const theDaemon = useDemoDaemon();

  it("logs in by the printed link, whose token leaves the address bar at once", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    const { page, complaints } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon));
    await connectionIs(page, "live");
    expect(page.url()).toBe(`${daemon.url}/`);
    expect(await page.evaluate(() => document.cookie)).toBe("");
    await page.goBack();
    expect(page.url()).not.toContain(daemon.token);
    expect(complaints).toEqual([]);
  });

  it("keeps the other parameters of the link", async (test) => {
    const { expect } = test;
    const daemon = await startDemoDaemon(test);
    const { session } = await daemon.client.submit({ task: "shown by a link", origin: "api" });
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon, `?session=${session}`));
    await page.getByTestId("run-row").first().waitFor();
    expect(page.url()).toBe(`${daemon.url}/?session=${session}`);
  });

  it("asks for the token without one, reports a wrong one, and lets a correct one in", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    const { page } = await openTab(browser(), { test });
    await page.goto(daemon.url);
    const form = page.getByTestId("token-form");
    await form.waitFor();
    await connectionIs(page, "unauthorised");

    await page.getByLabel("Token").fill("not-the-token");
    await page.keyboard.press("Enter");
    await form.getByRole("alert").waitFor();
    expect(await form.getByRole("alert").textContent()).toContain("the token is wrong");

    await page.getByLabel("Token").fill(daemon.token);
    await page.keyboard.press("Enter");
    await connectionIs(page, "live");
    await page.getByTestId("run-demo").waitFor();
  });

  it("accepts the whole link in the form, or in the address bar of the same tab", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    for (const way of ["form", "address"] as const) {
      const { page } = await openTab(browser(), { test });
      await page.goto(daemon.url);
      await page.getByTestId("token-form").waitFor();
      if (way === "address") await page.goto(linkOf(daemon));
      else {
        await page.getByLabel("Token").fill(linkOf(daemon));
        await page.getByRole("button", { name: "Connect" }).click();
      }
      await connectionIs(page, "live");
      expect(page.url()).toBe(`${daemon.url}/`);
    }
  });

  it("reports a wrong token in the link", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    const { page } = await openTab(browser(), { test });
    await page.goto(`${daemon.url}/#token=of-another-daemon`);
    const problem = page.getByTestId("token-form").getByRole("alert");
    await problem.waitFor();
    expect(await problem.textContent()).toContain("the token is wrong");
    expect(page.url()).toBe(`${daemon.url}/`);
  });

  it("stays logged in after a reload", async (test) => {
    const { expect } = test;
    const daemon = theDaemon();
    const { page, complaints } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon));
    await connectionIs(page, "live");
    await page.reload();
    await connectionIs(page, "live");
    expect(complaints).toEqual([]);
  });
});
