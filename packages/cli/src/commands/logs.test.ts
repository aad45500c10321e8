import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { homeFiles } from "troupe/internal";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createFakeCli, type FakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";

afterEach(removeTemporaryFolders);

const at = (second: number): string => `2026-03-03T10:00:${String(second).padStart(2, "0")}.000Z`;
const line = (second: number, msg: string, more: object = {}): string =>
  `${JSON.stringify({ level: 30, time: at(second), pid: 7, msg, ...more })}\n`;

/** A command line on a home with this log of the daemon. */
function withLog(text: string, folder = "logs"): { cli: FakeCli; file: string } {
  const cli = createFakeCli();
  const logs = join(cli.home.path, folder);
  mkdirSync(logs, { recursive: true });
  const file = join(logs, "troupe-2026-03-03.log");
  writeFileSync(file, text);
  return { cli, file };
}

describe("troupe logs", () => {
  test("prints time, level, message and fields of the newest lines, oldest first", async () => {
    const { cli } = withLog(line(1, "one") + line(2, "two", { agent: "coder" }) + line(3, "three", { level: 50 }));
    expect(await cli.run("logs", "-n", "2")).toBe(0);
    expect(cli.out()).toBe(`${at(2)} info  two  agent=coder\n${at(3)} error three\n`);
  });

  test.each<[string, string[], string[]]>([
    ["a run", ["--run", "0199aa"], ["of the run", "of its session"]],
    ["a level", ["--level", "warn"], ["careful"]],
    ["everything, with lines below info", ["--level", "trace"], ["quiet", "of the run", "of its session", "careful"]],
  ])("shows only the lines of %s", async (_, args, wanted) => {
    const { cli } = withLog(
      line(1, "quiet", { level: 10 }) +
        line(2, "of the run", { run: "0199aa11" }) +
        line(3, "of its session", { session: "0199aa22" }) +
        line(4, "careful", { level: 40, run: "0177" }),
    );
    expect(await cli.run("logs", ...args)).toBe(0);
    expect(wanted.filter((msg) => !cli.out().includes(msg))).toEqual([]);
    expect(cli.out().trim().split("\n")).toHaveLength(wanted.length);
  });

  test("shows a worker's own log, and names the workers that have one", async () => {
    const { cli } = withLog(line(1, "at work"), join("workers", "box-2", "logs"));
    expect(await cli.run("logs", "--host", "box-2")).toBe(0);
    expect(cli.out()).toContain("at work");
    expect(await cli.run("logs", "--host", "box-3")).toBe(2);
    expect(cli.err()).toContain('no worker "box-3" has a log on this machine; workers with a log here: box-2');
  });

  test("removes escapes of a terminal, and skips the half line of a killed process", async () => {
    const { cli } = withLog(`${line(1, "\u001b[2Jgone", { task: "\u001b]0;x\u0007y" })}{"level":30,"ti`);
    expect(await cli.run("logs")).toBe(0);
    expect(cli.out()).toBe(`${at(1)} info  gone  task=y\n`);
  });

  test("--json prints the lines as they are stored", async () => {
    const { cli } = withLog(line(1, "one", { agent: "coder" }));
    expect(await cli.run("logs", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toEqual({ level: 30, time: at(1), pid: 7, msg: "one", agent: "coder" });
  });

  test("-f goes on with every further line, each once, also in the next day's file", async () => {
    const { cli, file } = withLog(line(1, "one"));
    const ended = cli.run("logs", "-f");
    await vi.waitFor(() => expect(cli.out()).toContain("one"));
    const text = line(2, "zwölf");
    appendFileSync(file, text.slice(0, 60));
    appendFileSync(file, text.slice(60));
    await vi.waitFor(() => expect(cli.out()).toContain("zwölf"));
    writeFileSync(join(homeFiles(cli.home).logs, "troupe-2026-03-04.log"), line(3, "tomorrow"));
    await vi.waitFor(() => expect(cli.out()).toContain("tomorrow"));
    cli.send("SIGINT");
    expect(await ended).toBe(0);
    expect(cli.out().trim().split("\n")).toHaveLength(3);
  });

  test("without a log says where it looked", async () => {
    const cli = createFakeCli();
    expect(await cli.run("logs")).toBe(0);
    expect(cli.err()).toBe(`no line of ${homeFiles(cli.home).logs} matches\n`);
  });

  test.each([
    [["--level", "loud"], '--level is "loud"; it must be one of trace, debug'],
    [["--lines", "many"], '--lines "many" is not a whole number'],
  ])("%j is refused with 2", async (args, message) => {
    const cli = createFakeCli();
    expect(await cli.run("logs", ...args)).toBe(2);
    expect(cli.err()).toContain(message);
  });
});
