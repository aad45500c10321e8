/** An undo through the API: a child and its parent changed files, on any host of the team. */
import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { writeScenario } from "../harness/scenario-file.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { responseOf } from "../harness/session-queries.ts";
import { useDaemon } from "../harness/shared-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

const daemon = useDaemon("undo-api");
const request = { dryRun: false, partial: false, redo: false, by: "Ada" };

it("restores the files that a run and its child changed, and shows the undo in the session", async (test) => {
  const { client, home } = daemon();
  const workspace = await tempFolder("undo-api-work", test);
  const file = path.join(workspace, "a.txt");
  await writeFile(file, "one\n");
  const change = (from: string, to: string) => [
    { calls: [{ tool: "read", args: { path: "a.txt" } }] },
    { calls: [{ tool: "edit", args: { path: "a.txt", old: from, new: to } }] },
  ];
  const made = { tool: "write", args: { path: "made/b.txt", content: "b" } };
  const scenario = await writeScenario(home, {
    main: [{ steps: [...change("one", "two"), { calls: [delegate("coder", "go on")] }, { text: "done" }] }],
    coder: [{ steps: [...change("two", "three"), { calls: [made] }, { text: "gone on" }] }],
  });
  const { session, run } = await client.submit({ task: "change", scenario, workspace, origin: "api" });
  await responseOf(daemon(), session);
  expect(await readFile(file, "utf8")).toBe("three\n");

  const plan = await client.undo(run, { ...request, dryRun: true });
  expect(plan.files.map(({ path: of, action }) => [of, action])).toEqual([
    ["a.txt", "restore"],
    ["made/b.txt", "delete"],
  ]);
  const { outcome, undo } = await client.undo(run, request);
  expect(outcome).toBe("done");
  expect(await readFile(file, "utf8")).toBe("one\n");
  expect(await stat(path.join(workspace, "made")).catch(() => "gone")).toBe("gone");

  const [row] = await until(async () => {
    const { undos = [] } = await client.session(session);
    return undos[0]?.finishedAt ? undos : null;
  });
  expect(row).toMatchObject({ undo, run, by: "Ada", step: null, redoes: null });
  expect(row?.files).toEqual([
    { path: "a.txt", kind: "modified", state: "restored", reason: null },
    { path: "made/b.txt", kind: "deleted", state: "deleted", reason: null },
  ]);
});
