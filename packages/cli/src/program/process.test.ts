import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../testing/fake-cli.ts";
import { killAll, startScript } from "../testing/processes.ts";

// The same commands as whole processes, because signals, locks, streams and exit codes belong to processes. Each costs a third of a
// second, so a test asks one process as much as it can.

afterEach(() => {
  killAll();
  removeTemporaryFolders();
});

const troupe = (home: string, args: readonly string[], stdin?: "ignore" | "pipe") =>
  startScript("./fake-main.ts", args, { env: { TROUPE_HOME: home }, ...(stdin ? { stdin } : {}) });

test("of two daemons that start at once, one is refused; a killed one leaves a home that the next can own, with the same token", async () => {
  const home = join(temporaryFolder(), "home");
  const both = [troupe(home, ["up", "--json"]), troupe(home, ["up", "--json"])] as const;
  await Promise.all(both.map((each) => each.printed(/"ready"|HOME_OWNED/)));
  const isFirst = both[0].out().includes('"ready"');
  const [first, second] = isFirst ? both : [both[1], both[0]];
  expect(first.out()).toContain('"ready"');
  expect(await second.ended()).toBe(1);
  expect(second.out()).not.toContain('"ready"');
  expect(second.out()).toContain(`pid ${first.child.pid}`);

  first.child.kill("SIGKILL");
  await first.ended();
  expect(existsSync(join(home, "owner.json"))).toBe(true);

  const third = troupe(home, ["up", "--json"]);
  await third.printed(/"ready"/);
  expect(JSON.parse(third.out()).token).toBe(JSON.parse(first.out()).token);
  expect(JSON.parse(readFileSync(join(home, "owner.json"), "utf8")).pid).toBe(third.child.pid);
  third.child.kill("SIGINT");
  expect(await third.ended()).toBe(0);
  expect(third.err()).toContain("stopping");
  expect(existsSync(join(home, "owner.json"))).toBe(false);
});

describe("run", () => {
  test("stdout has the answer and nothing else, and an open standard input without data keeps nothing waiting", async () => {
    const run = troupe(temporaryFolder(), ["run", "answer 42"], "pipe");
    expect(await run.ended()).toBe(0);
    expect(run.out()).toBe("42\n");
  });

  test("an answer larger than a pipe's buffer arrives whole", async () => {
    const text = "x".repeat(100_000);
    const run = troupe(temporaryFolder(), ["run", `answer ${text}`, "--json"]);
    expect(await run.ended()).toBe(0);
    expect(JSON.parse(run.out()).details).toBe(text);
  });

  test("Ctrl-C cancels and exits with 130", async () => {
    const run = troupe(temporaryFolder(), ["run", "wait"]);
    await run.printed(/lead: wait/);
    run.child.kill("SIGINT");
    expect(await run.ended()).toBe(130);
    expect(run.err()).toMatch(/cancelling session .*\n(.*\n)*.*cancelled/);
  });

  test("a closed pipe is not an error", async () => {
    const run = troupe(temporaryFolder(), ["run", `answer ${"x".repeat(120_000)}`]);
    run.child.stdout?.destroy();
    expect(await run.ended()).toBe(0);
    expect(run.err()).not.toContain("EPIPE");
  });
});

const helps: [string[], number, RegExp][] = [
  [["--help"], 0, /Exit codes:/],
  [["--version"], 0, /^\d+\.\d+\.\d+\n$/],
  [["run", "--help"], 0, /--stream-json/],
];

// test/packaging asks for the version, and compares the flags of run with their documentation.
test.each(inject("long") ? helps : helps.slice(0, 1))("%j exits with %d", async (args, code, out) => {
  const process = troupe(temporaryFolder(), args);
  expect(await process.ended()).toBe(code);
  expect(process.out()).toMatch(out);
  expect(process.err()).toBe("");
});
