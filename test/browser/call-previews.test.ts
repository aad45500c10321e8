/** The card of an approval shows an email as an email and an event as an event, as plain text, with people outside marked. */
import type { Page } from "playwright-core";
import { it, type TestContext } from "vitest";
import { cardOf } from "../harness/approval-cards.ts";
import { auditPage, nothingWrong, parts } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { createOfficeHome, openOfficeOf } from "../harness/office-home.ts";
import { linkOf, openTab } from "../harness/tab.ts";
import { sessionIs } from "../harness/tree-view.ts";

async function startOffice(test: TestContext) {
  const home = await createOfficeHome(test);
  return { home, daemon: await startDaemonInProcess({ home, test }) };
}

/** The card's fields by their names, with the lines of each. */
const fieldsOf = (page: Page): Promise<Record<string, string[]>> =>
  page
    .getByTestId("call-preview")
    .locator("dl > div")
    .evaluateAll((rows) =>
      Object.fromEntries(
        rows.map((row) => {
          const lines = [...row.querySelectorAll(".preview-person")];
          const texts = lines.length > 0 ? lines : [...row.querySelectorAll("dd")];
          return [row.querySelector("dt")?.textContent ?? "", texts.map((each) => each.textContent ?? "")];
        }),
      ),
    );

describeInChromium("the card of an approval", (browser) => {
  it("shows an email as an email, and its arguments on request", async (test) => {
    const { expect } = test;
    const { home, daemon } = await startOffice(test);
    const { page } = await openTab(browser(), { test });
    const task =
      'Send an email to john@acme.example and mara@office.local with subject "<b>Beta</b>" saying "Ready <img src=x onerror=alert(1)>"';
    const { session } = await daemon.client.submit({ task, team: "office", origin: "api" });
    await page.goto(linkOf(daemon, `?session=${session}`));
    const card = cardOf(page, "gmail_send_email");
    await card.getByTestId("call-preview").waitFor();
    expect(await card.locator(".preview-kind").textContent()).toBe("Email");
    expect(await fieldsOf(page)).toMatchObject({
      To: [expect.stringMatching(/john@acme\.example.*external$/), expect.stringMatching(/mara@office\.local>?$/)],
      Subject: ["<b>Beta</b>"],
    });
    // Markup is text: no element of it is on the page.
    expect(await card.locator(".preview-text").textContent()).toContain("<img src=x onerror=alert(1)>");
    expect(await card.locator("img, b").count()).toBe(0);
    expect(await card.getByTestId("approval-arguments").isVisible()).toBe(false);
    await card.getByText("All arguments").click();
    expect(await card.getByTestId("approval-arguments").textContent()).toContain("john@acme.example");
    expect(await auditPage(page, parts.card)).toEqual(nothingWrong);
    await card.getByTestId("approve-once").click();
    await sessionIs(page, "completed");
    const { items } = await openOfficeOf(home, test).mail.searchMessages({ folder: "sent", to: "john@acme.example" });
    expect(items.filter(({ subject }) => subject === "<b>Beta</b>")).toHaveLength(1);
  });

  it("shows an event with its date, and a change with both values", async (test) => {
    const { expect } = test;
    const { daemon } = await startOffice(test);
    const { page } = await openTab(browser(), { test });
    const task = "Schedule a contract review with carl@globex.example next Tuesday 4pm";
    const { session } = await daemon.client.submit({ task, team: "office", origin: "api" });
    await page.goto(linkOf(daemon, `?session=${session}`));
    const card = cardOf(page, "calendar_create_event");
    await card.getByTestId("call-preview").waitFor();
    expect(await card.locator(".preview-kind").textContent()).toBe("New event");
    expect(await card.locator(".preview-title").textContent()).toMatch(/contract review/i);
    const [month, day, weekday] = await card.locator(".date-block > *").allTextContents();
    expect([month, day, weekday]).toEqual([
      expect.stringMatching(/^\w{3}$/),
      expect.stringMatching(/^\d{1,2}$/),
      "Tue",
    ]);
    expect(await fieldsOf(page)).toMatchObject({ People: [expect.stringMatching(/carl@globex\.example.*external$/)] });
    expect(await auditPage(page, parts.card)).toEqual(nothingWrong);
    await card.getByTestId("approve-once").click();
    await sessionIs(page, "completed");

    const moved = { task: "Move the contract review to Wednesday 4pm", team: "office", origin: "api" as const };
    const { session: second } = await daemon.client.submit(moved);
    await page.goto(linkOf(daemon, `?session=${second}`));
    const changed = cardOf(page, "calendar_update_event");
    await changed.locator(".preview-changes").waitFor();
    expect(await changed.locator(".preview-kind").textContent()).toBe("Changed event");
    const [field, before, after] = await changed.locator(".preview-changes tbody tr > *").allTextContents();
    expect(field).toBe("when");
    expect(before).toMatch(/16:00 to 17:00/);
    expect(after).not.toBe(before);
    expect(await auditPage(page, parts.card)).toEqual(nothingWrong);
    await changed.getByTestId("deny").click();
    await changed.getByTestId("deny-now").click();
  });
});
