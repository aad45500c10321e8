/** Plans on the command line: made, edited, executed, killed in the middle, and continued without a repeated step. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { startTroupe, troupe } from "../harness/cli.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const key = "sk-ant-api03-a-key-for-tests";
const drafted = (id: string, agent: string, after: string[], review = false) => ({
  ...{ id, agent, after, review, title: `The step ${id}`, task: `carry out ${id}`, successCriteria: "it is done" },
});
const draft = { steps: [drafted("look", "researcher", []), drafted("build", "coder", ["look"], true)] };

it("makes a plan, executes the edited file, and after a kill continues at the step where it was", async ({
  onTestFinished,
}) => {
  const test = { onTestFinished };
  const home = await tempFolder("plans", test);
  const server = await startModelServer({
    rootAgent: "planner",
    apiKey: key,
    scenario: {
      agents: {
        planner: [{ steps: [{ text: JSON.stringify(draft) }] }],
        researcher: [{ steps: [{ text: "It is basic." }] }],
        // The first request never gets an answer: the process is killed meanwhile.
        coder: [{ steps: [{ text: "Built.", faults: [{ stall: { afterPieces: 0 } }] }] }],
        reviewer: [{ steps: [{ text: '{"approved":true,"findings":[]}' }] }],
      },
    },
  });
  onTestFinished(() => server.close());
  const env = {
    ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.anthropicUrl },
    TROUPE_MODEL: "anthropic/claude-sonnet-5",
  };
  const options = { home, env };
  const asked = (agent: string) => server.calls().filter(({ identity }) => identity?.agent === agent).length;

  const made = await troupe(["plan", "Add tokens", "--out", "plan.yaml"], options);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining("The step build") });
  const again = await troupe(["plan", "Add tokens", "--out", "plan.yaml"], options);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("plan.yaml exists") });

  const file = path.join(home, "plan.yaml");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("agent: coder", "agent: codr").replace("- look", "- loook"));
  const refused = await troupe(["plan", "run", "plan.yaml"], options);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(/line \d+: steps\.1\.agent: there is no agent "codr"/);
  expect(refused.stderr).toMatch(/line \d+: steps\.1\.after\.0: there is no step "loook"/);
  expect(refused.stderr).toContain("did you mean coder?");
  await writeFile(file, text.replace(/^ +review: true/m, "    reveiw: true"));
  const misspelt = await troupe(["plan", "run", "plan.yaml"], options);
  expect(misspelt.stderr).toMatch(/line \d+ of plan\.yaml: did you mean review\?/);
  expect([asked("planner"), asked("researcher")]).toEqual([1, 0]);

  await writeFile(file, text.replace("carry out build", "carry out build well"));
  const early = await troupe(["plan", "run", "plan.yaml", "--step", "build"], options);
  expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining("the step build waits for look") });

  const first = startTroupe(["plan", "run", "plan.yaml"], { ...options, test });
  await server.waitUntil((calls) => calls.some(({ identity }) => identity?.agent === "coder"));
  first.process.kill("SIGKILL");
  await first.ended;

  const second = await troupe(["plan", "run", "plan.yaml", "--json"], options);
  expect(second.code).toBe(0);
  const result = JSON.parse(second.stdout);
  expect(result).toMatchObject({
    status: "completed",
    steps: [
      { id: "look", status: "completed", summary: "It is basic." },
      { id: "build", status: "completed", approved: true, summary: "Built." },
    ],
    totals: { runs: 3 },
  });
  // The research was not repeated. The coder's call had no outcome, so it was.
  expect([asked("researcher"), asked("coder"), asked("reviewer")]).toEqual([1, 2, 1]);

  const third = await troupe(["plan", "run", "plan.yaml", "--json"], options);
  expect(JSON.parse(third.stdout)).toEqual(result);
  expect([asked("researcher"), asked("coder"), asked("reviewer")]).toEqual([1, 2, 1]);

  const replayed = await troupe(["sessions", "replay", result.session], options);
  expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringMatching(/^same: /)]);
});
