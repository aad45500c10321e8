import { readFile } from "node:fs/promises";
import path from "node:path";
import { it } from "vitest";
import { answerResultIs, cardOf, shownArguments, waitingAre } from "../harness/approval-cards.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { troupe } from "../harness/cli.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { askingPolicy, startKillableScriptedDaemon, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { questionFor, responseOf } from "../harness/session-queries.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { connectionIs, linkOf, openTab, patienceMs, type TabOptions, tabTo } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { sessionIs } from "../harness/tree-view.ts";

// Answers on the page the approvals that a policy asks for. The task of each session is its command.

const agents: Agents = {
  main: [
    {
      steps: [
        { calls: [{ tool: "delegate", args: { agent: "coder", task: "{{task}}" } }] },
        { text: "{{result.0.output}}" },
      ],
    },
  ],
  coder: [
    { steps: [{ calls: [{ tool: "shell", args: { command: "{{task}}" } }] }, { text: "I got: {{result.0.output}}" }] },
  ],
  tester: [
    {
      steps: [
        { calls: [{ tool: "shell", args: { command: "{{task}}; echo 1" } }] },
        { calls: [{ tool: "shell", args: { command: "{{task}}; echo 2" } }] },
        { text: "Twice." },
      ],
    },
  ],
};

describeInChromium("the dashboard", (browser) => {
  const theDaemon = useShared((test) => startScriptedDaemon({ test, agents, files: askingPolicy }));

  /** A tab that looks at a new session of the shared daemon. */
  async function openSession(options: TabOptions & { task: string; agent?: string; workspace?: string }) {
    const { task, agent = "coder", workspace, ...tabOptions } = options;
    const daemon = theDaemon();
    const request = { task, agent, origin: "api", ...(workspace === undefined ? {} : { workspace }) } as const;
    const submitted = await daemon.client.submit(request);
    const { page } = await openTab(browser(), tabOptions);
    await page.goto(linkOf(daemon, `?session=${submitted.session}`));
    return { ...submitted, page, daemon };
  }

  it("shows an approval with its agent and the complete call, and allows it once", async (test) => {
    const { expect } = test;
    const lines = Array.from({ length: 40 }, (_, i) => `echo line ${i} >> lines.txt`).join("\n");
    const task = `${lines}\n# <img src=x onerror="window.hacked=1"> a turn \u202Eof the writing direction`;
    const { page, workspace, daemon } = await openSession({ test, task, agent: "main" });
    const card = cardOf(page, "main › coder asks for shell");
    await card.waitFor();
    expect(await shownArguments(card)).toEqual({ command: task.replace("\u202E", "⟨U+202E⟩") });
    expect(await card.locator(".risk-tag").textContent()).toBe("medium risk");
    expect(await page.locator('[data-agent="coder"]').getAttribute("data-exact")).toBe("waiting");

    const id = (await card.getAttribute("data-approval")) ?? "";
    await card.getByTestId("approve-once").click();
    await card.waitFor({ state: "detached" });
    await answerResultIs(page, "coder, shell: approved by dashboard");
    await sessionIs(page, "completed");
    expect(await daemon.client.approval(id)).toMatchObject({ state: "approved", scope: "once", by: "dashboard" });
    expect((await readFile(path.join(workspace, "lines.txt"), "utf8")).split("\n")).toHaveLength(41);
  });

  it("asks again in the same run, unless the tool was allowed for all of it", async (test) => {
    const { expect } = test;
    for (const [way, asked] of [
      ["approve-once", 2],
      ["approve-run", 1],
    ] as const) {
      const { page, session, daemon } = await openSession({ test, task: `: ${way}`, agent: "tester" });
      await cardOf(page, "echo 1").getByTestId(way).click();
      if (way === "approve-once") await cardOf(page, "echo 2").getByTestId("approve-once").click();
      await sessionIs(page, "completed");
      expect((await daemon.client.session(session)).approvals).toHaveLength(asked);
    }
  });

  it("allows for good by a rule, which is listed until it is removed", async (test) => {
    const { expect } = test;
    const workspace = await tempFolder("rule", test);
    const { page, daemon } = await openSession({ test, task: "echo by rule", workspace });
    const card = cardOf(page, "echo by rule");
    await card.getByTestId("approve-always").click();
    await card.getByTestId("approve-rule").click();
    await sessionIs(page, "completed");

    const again = { task: "echo by rule", agent: "coder", origin: "api", workspace } as const;
    const second = await daemon.client.submit(again);
    expect(await responseOf(daemon, second.session)).toMatchObject({ status: "completed" });
    expect((await daemon.client.session(second.session)).approvals).toEqual([]);

    await page.getByTestId("approvals-link").click();
    const rule = page.getByTestId("approval-rule").filter({ hasText: "echo by rule" });
    expect(await rule.textContent()).toMatch(/allow.*shell.*with these arguments.*agent coder.*by dashboard/);
    await rule.getByTestId("remove-rule").click();
    await rule.getByRole("button", { name: "Really remove?" }).click();
    await rule.waitFor({ state: "detached" });

    const third = await daemon.client.submit(again);
    await questionFor(daemon, third.session, "echo by rule");
  });

  it("denies with a reason, which the agent reads and the list of answers keeps", async (test) => {
    const { expect } = test;
    const { page, session, daemon } = await openSession({ test, task: "echo never" });
    const card = cardOf(page, "echo never");
    await card.getByTestId("deny").click();
    await page.keyboard.type("Ask me tomorrow.");
    await card.getByTestId("deny-now").click();
    await sessionIs(page, "completed");
    expect((await daemon.client.session(session)).session.summary).toContain("Ask me tomorrow.");

    await page.getByTestId("approvals-link").click();
    const settled = page.getByTestId("approval-settled").filter({ hasText: "echo never" });
    expect(await settled.getAttribute("data-state")).toBe("denied");
    await settled.locator("summary").click();
    await settled.getByText("Ask me tomorrow.").waitFor();
  });

  it("removes an approval that was answered in a terminal, and shows the answer", async (test) => {
    const { expect } = test;
    const { page, daemon } = await openSession({ test, task: "echo elsewhere" });
    const card = cardOf(page, "echo elsewhere");
    const id = (await card.getAttribute("data-approval")) ?? "";
    const answered = await troupe(["approvals", "approve", id], { home: daemon.home, env: { USER: "ada" } });
    expect(answered).toMatchObject({ code: 0 });
    await card.waitFor({ state: "detached" });
    await answerResultIs(page, "coder, shell: approved by ada");
    await sessionIs(page, "completed");
  });

  it("reports an answer that did not arrive, and accepts the second try", async (test) => {
    const { expect } = test;
    const { page } = await openSession({ test, task: "echo again" });
    const card = cardOf(page, "echo again");
    await page.route("**/answer", (route) => route.abort("connectionrefused"));
    await card.getByTestId("approve-once").click();
    expect(await card.getByRole("alert").textContent()).toBe("The daemon does not answer.Start it: troupe up");
    await page.unroute("**/answer");
    await card.getByTestId("approve-once").click();
    await card.waitFor({ state: "detached" });
    await sessionIs(page, "completed");
  });

  it("answers with the keyboard alone, without losing the focus", async (test) => {
    const { expect } = test;
    const { page } = await openSession({ test, task: ": keys", agent: "tester" });
    await cardOf(page, "echo 1").waitFor();
    await tabTo(page, "[data-testid=deny]");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Not so fast.");
    await page.keyboard.press("Enter");
    await cardOf(page, "echo 2").waitFor();
    await cardOf(page, "echo 1").waitFor({ state: "detached" });
    await page.locator(".approval-card h3:focus, .approvals-status:focus").waitFor();
    await tabTo(page, "[data-testid=approve-always]");
    await page.keyboard.press("Space");
    await tabTo(page, "input[type=radio]");
    await page.keyboard.press("ArrowDown");
    expect(await page.getByLabel("any arguments of shell").isChecked()).toBe(true);
    await tabTo(page, "[data-testid=approve-rule]");
    await page.keyboard.press("Enter");
    await sessionIs(page, "completed");
    await page.locator(".approvals-status:focus").waitFor();
  });
});

describeInChromium("the header of the dashboard", (browser) => {
  it("counts the approvals of all sessions in the header and the title, and withdraws them with their session", async (test) => {
    const { expect } = test;
    const daemon = await startScriptedDaemon({ test, agents, files: askingPolicy });
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon, "?view=approvals"));
    await page.getByText("No approvals are waiting.").waitFor();
    await waitingAre(page, 0);
    const first = await daemon.client.submit({ task: "echo first", agent: "coder", origin: "api" });
    await daemon.client.submit({ task: "echo second", agent: "coder", origin: "api" });
    await waitingAre(page, 2);
    expect(await page.getByTestId("approvals-link").textContent()).toBe("Approvals 2 waiting");
    expect(await page.title()).toBe("(2 to approve, 2 running) troupe");

    await cardOf(page, "echo first").getByRole("link", { name: "echo first" }).click();
    await page.locator("#run-title", { hasText: "coder" }).waitFor();
    await page.getByTestId("cancel-session").click();
    await page.getByRole("button", { name: "Really cancel?" }).click();
    await sessionIs(page, "cancelled");
    await answerResultIs(page, "coder, shell: withdrawn");
    await waitingAre(page, 1);
    expect(await daemon.client.session(first.session)).toMatchObject({ approvals: [{ state: "withdrawn" }] });
    await expect.poll(() => page.title(), { timeout: patienceMs }).toBe("(1 to approve, 1 running) troupe");
  });

  it("keeps an approval and the typed text over a kill of the daemon, and accepts the answer afterwards", async (test) => {
    const { expect } = test;
    const daemon = await startKillableScriptedDaemon({ test, agents, files: askingPolicy });
    const { session } = await daemon.client.submit({ task: "echo survivor", agent: "main", origin: "api" });
    const { page } = await openTab(browser(), { test });
    await page.goto(linkOf(daemon, `?session=${session}`));
    const card = cardOf(page, "echo survivor");
    const id = await card.getAttribute("data-approval");
    await card.getByTestId("deny").click();
    await page.keyboard.type("Half a sen");

    await daemon.kill();
    await connectionIs(page, "lost");
    expect(await card.getByTestId("approve-once").isDisabled()).toBe(true);
    const again = await daemon.startAgain();
    await connectionIs(page, "live");
    expect(await card.getAttribute("data-approval")).toBe(id);
    await page.keyboard.type("tence.");
    await card.getByTestId("deny-now").click();
    await card.waitFor({ state: "detached" });
    await sessionIs(page, "completed");
    expect((await again.client.session(session)).session.summary).toContain("Half a sentence.");
  });
});
