import type { Page } from "playwright-core";
import { it, type TestContext } from "vitest";
import { cardOf, waitingAre } from "../harness/approval-cards.ts";
import { type Audit, auditPage, nothingWrong, parts } from "../harness/audit-page.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { hostileTexts } from "../harness/hostile-texts.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { askingPolicy, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { linkOf, openTab } from "../harness/tab.ts";
import { rowOf } from "../harness/tree-view.ts";

const script = Array.from({ length: 30 }, (_, i) => `echo "line ${i} of a script that is longer than its card"`);

const agents: Agents = {
  main: [
    {
      steps: [
        {
          calls: [
            { tool: "delegate", args: { agent: "coder", task: "Write it." } },
            { tool: "delegate", args: { agent: "tester", task: "Test it." } },
          ],
        },
        { text: "Both are done." },
      ],
    },
  ],
  coder: [
    {
      steps: [
        {
          calls: [
            { tool: "shell", args: { command: script.join("\n"), timeoutMs: 1_000 } },
            { tool: "shell", args: { command: hostileTexts["ten thousand characters"].slice(0, 3_000) } },
          ],
        },
        { text: "Written." },
      ],
    },
  ],
  tester: [{ steps: [{ calls: [{ tool: "shell", args: { command: "echo short" } }] }, { text: "Tested." }] }],
};

describeInChromium("every page with an approval", (browser) => {
  it("passes axe in light and in dark, and fits into 360 pixels", async (test) => {
    const { expect } = test;
    const { page } = await openTab(browser(), { test });
    const found = await walkThroughStates(page, test);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, nothingWrong])));
    expect(Object.keys(found)).toHaveLength(8);
  });
});

/** From the first question to the last answer. */
async function walkThroughStates(
  page: Page,
  test: Pick<TestContext, "onTestFinished">,
): Promise<Record<string, Audit>> {
  const seen: Record<string, Audit> = {};
  const look = async (state: string, part?: string): Promise<void> => {
    seen[state] = await auditPage(page, part);
  };
  const daemon = await startScriptedDaemon({ test, agents, files: askingPolicy });
  await page.goto(linkOf(daemon, "?view=approvals"));
  await page.getByText("No approvals have been answered yet.").waitFor();
  await page.getByText("No rules.").waitFor();
  await look("nothing was ever asked");

  const { session } = await daemon.client.submit({ task: "Ask for all", origin: "api" });
  await page.goto(`${daemon.url}/?session=${session}`);
  await waitingAre(page, 3);
  await look("three questions in a session");
  const short = cardOf(page, "echo short");
  await short.getByTestId("approve-always").click();
  await look("how far a rule reaches", parts.card);
  await short.getByTestId("deny").click();
  await page.route("**/answer", (route) => route.abort("connectionrefused"));
  await short.getByTestId("deny-now").click();
  await short.getByRole("alert").waitFor();
  await page.unroute("**/answer");
  await look("a denial that did not get through", parts.card);

  await rowOf(page, "coder").click();
  await page.getByTestId("explain-run").click();
  await page.getByTestId("grants").waitFor();
  await page.getByTestId("cancel-run").click();
  await look("a run and its grants", parts.selectedRun);
  await page.getByTestId("pause-run").click();
  await page.getByRole("button", { name: "Resume run" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByTestId("pause-session").click();
  await page.locator('.facts .badge[data-kind="paused"]').waitFor();
  await look("a paused session", ".session-head, [data-testid=run-row]");

  await page.getByTestId("approvals-link").click();
  await cardOf(page, "echo short").getByTestId("approve-always").click();
  await page.getByTestId("approve-rule").click();
  await page.getByTestId("approval-rule").waitFor();
  await page.getByTestId("approval-settled").locator("summary").click();
  await look("a rule, and an answer", "[data-testid=approval-rules], [data-testid=approvals-settled]");
  await daemon.client.cancel(session);
  await waitingAre(page, 0);
  await page.goBack();
  await page.getByTestId("session-approvals").or(page.getByTestId("run-row").first()).first().waitFor();
  await look("all was withdrawn", "main");
  return seen;
}
