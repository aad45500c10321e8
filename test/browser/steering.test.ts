import type { Locator, Page } from "playwright-core";
import { it } from "vitest";
import { cardOf } from "../harness/approval-cards.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { troupe } from "../harness/cli.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { linkOf, openTab, type TabOptions } from "../harness/tab.ts";
import { rowOf, sessionIs } from "../harness/tree-view.ts";

// Runs that are stopped, held, told something and asked about on the page, while they are at work.

/** Longer than any test. */
const endless = { latencyMs: 600_000, text: "I am still thinking." };

const agents: Agents = {
  main: [
    {
      when: { task: "a wide batch" },
      steps: [
        {
          calls: [
            {
              tool: "delegate",
              args: { tasks: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ agent: "researcher", task: `Part ${n}` })) },
            },
          ],
        },
        { text: "All parts are in." },
      ],
    },
    {
      steps: [
        {
          calls: [
            { tool: "delegate", args: { agent: "researcher", task: "Part 1" } },
            { tool: "delegate", args: { agent: "coder", task: "Write it." } },
          ],
        },
        { text: "One of two." },
      ],
    },
  ],
  researcher: [{ steps: [endless] }],
  coder: [{ steps: [{ calls: [{ tool: "shell", args: { command: "echo written" } }] }, { text: "It is written." }] }],
  tester: [
    {
      steps: [{ calls: [{ tool: "shell", args: { command: "echo tested" } }] }, { text: "It works." }],
    },
  ],
};

const policy = { "policy.yaml": "risk: {medium: ask}\ntools: {deny: [write]}\nagents: {disabled: [planner]}\n" };

describeInChromium("the dashboard", (browser) => {
  const theDaemon = useShared((test) => startScriptedDaemon({ test, agents, files: policy }));

  /** A tab that looks at a new session of the shared daemon. */
  async function openSession({ task = "two at once", agent = "main", ...options }: SessionOptions) {
    const daemon = theDaemon();
    const submitted = await daemon.client.submit({ task, agent, origin: "api" });
    const { page } = await openTab(browser(), options);
    await page.goto(linkOf(daemon, `?session=${submitted.session}`));
    return { ...submitted, page, daemon };
  }

  it("cancels a run at the second press, and its sibling continues", async (test) => {
    const { expect } = test;
    const { page, session, daemon } = await openSession({ test });
    const panel = await openPanel(page, "researcher");
    await cardOf(page, "echo written").waitFor();
    await panel.getByTestId("cancel-run").click();
    await panel.getByRole("button", { name: "Really cancel?" }).waitFor();
    expect(await rowOf(page, "researcher").getAttribute("data-status")).toBe("running");
    await page.keyboard.press("Escape");
    await panel.getByRole("button", { name: "Cancel run" }).waitFor();

    await panel.getByTestId("cancel-run").click();
    await panel.getByTestId("cancel-run").click();
    await exactIs(page, "researcher", "cancelled");
    await panel.getByRole("heading", { name: "Cancelled" }).waitFor();
    await panel.getByText("cancelled on the page").waitFor();
    expect(await panel.getByTestId("run-controls").count()).toBe(0);
    await page.locator("#run-title:focus").waitFor();
    expect(await rowOf(page, "coder").getAttribute("data-exact")).toBe("waiting");

    await cardOf(page, "echo written").getByTestId("approve-once").click();
    await exactIs(page, "coder", "completed");
    await sessionIs(page, "completed");
    expect((await daemon.client.session(session)).session.summary).toBe("One of two.");
  });

  it("pauses a run with its descendants, and resumes it in the same state", async (test) => {
    const { expect } = test;
    const { page } = await openSession({ test });
    const card = cardOf(page, "echo written");
    await card.waitFor();
    await page.getByTestId("pause-session").click();
    for (const agent of ["main", "researcher", "coder"]) await exactIs(page, agent, "paused");
    await page.locator('.facts .badge[data-kind="paused"]').waitFor();
    // Answered meanwhile, it starts nothing.
    await card.getByTestId("approve-once").click();
    await card.waitFor({ state: "detached" });
    expect(await rowOf(page, "coder").getAttribute("data-exact")).toBe("paused");

    await page.getByRole("button", { name: "Resume session" }).click();
    await exactIs(page, "coder", "completed");
    await exactIs(page, "researcher", "running");
    await page.getByRole("button", { name: "Pause session" }).waitFor();
  });

  it("pauses one run while its siblings continue, also from a terminal", async (test) => {
    const { page, daemon } = await openSession({ test });
    const panel = await openPanel(page, "researcher");
    await panel.getByTestId("pause-run").click();
    await exactIs(page, "researcher", "paused");
    await cardOf(page, "echo written").getByTestId("approve-once").click();
    await exactIs(page, "coder", "completed");
    const run = (await rowOf(page, "researcher").getAttribute("data-run")) ?? "";
    test.expect(await troupe(["resume", run], { home: daemon.home })).toMatchObject({ code: 0 });
    await exactIs(page, "researcher", "running");
    await panel.getByRole("button", { name: "Pause run" }).waitFor();
  });

  it("sends a message to a run, which its model reads at the next step", async (test) => {
    const { expect } = test;
    const { page, run, daemon } = await openSession({ test, agent: "tester" });
    const panel = await openPanel(page, "tester");
    const form = panel.getByTestId("steer-form");
    await form.getByLabel("Steer tester").fill("Look into b.txt as well.");
    await page.keyboard.press("Enter");
    await form.getByText("Sent: the agent reads it at its next step.").waitFor();
    expect(await form.getByLabel("Steer tester").inputValue()).toBe("");
    await cardOf(page, "echo tested").getByTestId("approve-once").click();
    await sessionIs(page, "completed");
    const entries = (await daemon.client.entries(run)).entries.map((entry) => JSON.stringify(entry));
    const placeOf = (words: string): number => entries.findIndex((entry) => entry.includes(words));
    expect(placeOf("Look into b.txt as well.")).toBeGreaterThan(0);
    expect(placeOf("Look into b.txt as well.")).toBeLessThan(placeOf("It works."));
  });

  it("offers to repeat a command that did not arrive, with the reason", async (test) => {
    const { expect } = test;
    const { page } = await openSession({ test });
    const panel = await openPanel(page, "researcher");
    await panel.getByLabel("Steer researcher").fill("Be brief.");
    const requestNames = ["explain-run", "pause-run", "cancel-run", "pause-session", "cancel-session"];
    const press = async (ask: string): Promise<void> => {
      await page.getByTestId(ask).click();
      if (ask.startsWith("cancel")) await page.getByTestId(ask).click();
    };
    const alerts = page.getByRole("alert").filter({ hasText: "The daemon does not answer.Start it: troupe up" });

    await page.route("**/api/v1/**", (route) => route.abort("connectionrefused"));
    for (const ask of requestNames) await press(ask);
    await panel.getByRole("button", { name: "Send" }).click();
    await alerts.nth(requestNames.length).waitFor();
    expect(await panel.getByLabel("Steer researcher").inputValue()).toBe("Be brief.");
    await page.unroute("**/api/v1/**");

    for (const ask of requestNames.slice(0, 2)) await press(ask);
    await panel.getByRole("button", { name: "Send" }).click();
    await panel.getByTestId("grants").waitFor();
    await panel.getByText("Sent: the agent reads it").waitFor();
    await exactIs(page, "researcher", "paused");
    for (const ask of requestNames.slice(2)) await press(ask);
    await sessionIs(page, "cancelled");
  });

  it("shows the layers that granted or denied each tool and each agent", async (test) => {
    const { expect } = test;
    const { page } = await openSession({ test });
    const panel = await openPanel(page, "main");
    await panel.getByTestId("explain-run").click();
    const grants = panel.getByTestId("grants");
    expect(await grants.locator(".layers").textContent()).toBe("policy › main");
    const permissionOf = (name: string): Promise<string | null> =>
      grants
        .getByRole("row")
        .filter({ has: page.getByRole("rowheader", { name, exact: true }) })
        .textContent();
    expect(await permissionOf("shell")).toBe("shellgranted");
    expect(await permissionOf("write")).toMatch(/^writeremoved by policy./);
    expect(await permissionOf("coder")).toBe("codergranted");
    expect(await permissionOf("planner")).toMatch(/^plannerremoved by policy./);
    expect(await permissionOf("main")).toMatch(/^mainremoved by main.*itself/);
    await panel.getByTestId("explain-run").click();
    await grants.waitFor({ state: "detached" });
  });

  it("shows the position of a queued run, which moves up when a slot is free", async (test) => {
    const { expect } = test;
    const { page, daemon } = await openSession({ test, task: "a wide batch" });
    const placeOf = (part: number): Locator =>
      page
        .getByTestId("run-row")
        .filter({ hasText: `Part ${part}` })
        .locator(".badge");
    await placeOf(8).filter({ hasText: "queued 3" }).waitFor();
    expect(await placeOf(6).textContent()).toBe("queued 1");
    expect(await placeOf(7).textContent()).toBe("queued 2");
    const running = page.locator('[data-agent="researcher"][data-exact="running"]');
    expect(await running.count()).toBe(5);

    await daemon.client.cancelRun((await running.first().getAttribute("data-run")) ?? "", "make room");
    await placeOf(6).filter({ hasText: "running" }).waitFor();
    expect(await placeOf(7).textContent()).toBe("queued 1");
    expect(await placeOf(8).textContent()).toBe("queued 2");
  });
});

type SessionOptions = TabOptions & { task?: string; agent?: string };

/** Selects a run of the tree. */
async function openPanel(page: Page, agent: string): Promise<Locator> {
  await rowOf(page, agent).click();
  const panel = page.locator(".run-panel");
  await panel.locator("#run-title", { hasText: agent }).waitFor();
  return panel;
}

/** Waits until the row of an agent says how it stands, in the machine's own word. */
async function exactIs(page: Page, agent: string, exact: string): Promise<void> {
  await page.locator(`[data-testid="run-row"][data-agent="${agent}"][data-exact="${exact}"]`).first().waitFor();
}
