import { Writable } from "node:stream";
import type { LiveEvent } from "@troupe/core";
import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { createTerminal } from "../terminal/terminal.ts";
import { aRun } from "../testing/rows.ts";
import { createLiveTree } from "./live-tree.ts";

const plain = pc.createColors(false);
const active = { status: "running", exactStatus: "running", completedAt: null } as const;
const root = aRun({ ...active, agent: "lead", activity: "waits for coder", totalTokens: 1_200 });
const coder = aRun({ ...active, session: root.session, parentRun: root.run, agent: "coder", depth: 1, order: 1 });
const size = { width: 100, height: 10 };

type Detail = { [K in LiveEvent["kind"]]: Omit<Extract<LiveEvent, { kind: K }>, "v" | "session" | "run" | "agent"> };
const event = <K extends LiveEvent["kind"]>(run: typeof root, detail: Detail[K]): LiveEvent =>
  ({ v: 1, session: run.session, run: run.run, agent: run.agent, ...detail }) as LiveEvent;

function treeOf(...runs: (typeof root)[]) {
  const tree = createLiveTree(plain);
  tree.change(runs);
  return tree;
}

describe("the live tree", () => {
  test("shows each run under way with its state, activity, time, tokens and cost", () => {
    const [first, second, ...rest] = treeOf(root, coder).lines(size, 12_000);
    expect(first).toMatch(/^● lead +running +waits for coder +12.0 s +1,200 tokens +cost unknown$/);
    expect(second).toMatch(/^└─ ● coder +running/);
    expect(rest).toEqual([]);
  });

  test("shows the running call with its argument and its time, until it has ended", () => {
    const tree = treeOf(root, coder);
    tree.live(event(coder, { kind: "tool.started", tool: "shell\u001b[1m", detail: "npm test\u001b[2J" }), 10_000);
    expect(tree.lines(size, 12_000)[1]).toContain("⚙ shell: npm test · 2.0 s");
    const end = { tool: "shell", detail: "npm test", durationMs: 2_000, ok: true, result: "exit 0" };
    tree.live(event(coder, { kind: "tool.finished", ...end }), 12_000);
    expect(tree.lines(size, 12_000)[1]).not.toContain("⚙");
  });

  test("shows the end of the root's text, and no other run's", () => {
    const tree = treeOf(root, coder);
    tree.live(event(root, { kind: "text.delta", text: `${"word ".repeat(300)}the end` }), 0);
    tree.live(event(coder, { kind: "text.delta", text: "secret" }), 0);
    const lines = tree.lines(size, 0);
    expect(lines.at(-1)).toMatch(/the end$/);
    expect(lines).toHaveLength(5);
    expect(lines.join()).not.toContain("secret");
    tree.live(event(root, { kind: "state.entered", state: "think", step: 2 }), 0);
    expect(tree.lines(size, 0)).toHaveLength(2);
  });

  test("has no line for a run that has ended", () => {
    const tree = treeOf(root, coder);
    tree.change([{ ...coder, status: "completed", completedAt: new Date(0).toISOString() }]);
    expect(tree.lines(size, 0)).toHaveLength(1);
  });

  test.each([1, 20, 41, 200])("of 50 runs fits a terminal of %i columns and ten lines", (width) => {
    const children = Array.from({ length: 50 }, (_, order) =>
      aRun({
        ...active,
        session: root.session,
        parentRun: root.run,
        agent: "実行者",
        task: "長い仕事".repeat(30),
        order,
      }),
    );
    const lines = treeOf(root, ...children).lines({ width, height: 10 }, 0);
    expect(lines).toHaveLength(10);
    expect(lines.at(-1)).toContain("… and 42 more runs");
    for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThanOrEqual(Math.max(1, width - 1));
  });
});

describe("lines kept below", () => {
  function output(env: NodeJS.ProcessEnv = {}) {
    let text = "";
    const stdout = Object.assign(
      new Writable({
        write(chunk, _, done) {
          text += String(chunk);
          done();
        },
      }),
      { isTTY: true, columns: 80, rows: 24 },
    );
    return { out: createTerminal({ stdout, stderr: stdout, env }).out, text: () => text };
  }

  test("stay below every other line, and leave nothing behind", () => {
    const { out, text } = output();
    out.keepBelow(["one", "two"]);
    out.line("log");
    out.keepBelow(["three"]);
    out.keepBelow([]);
    expect(text()).toBe("one\ntwo\n\u001b[2A\u001b[0Jlog\none\ntwo\n\u001b[2A\u001b[0Jthree\n\u001b[1A\u001b[0J");
  });

  test("are not printed where the cursor cannot move", () => {
    const { out, text } = output({ TERM: "dumb" });
    out.keepBelow(["one"]);
    out.line("log");
    expect(text()).toBe("log\n");
  });
});
