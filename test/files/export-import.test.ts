/** Sessions become files and come back, through the commands that a person types. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { describe, it } from "vitest";
import { startProgram } from "../harness/cli.ts";
import { cliPath } from "../harness/cli-path.ts";
import { hostileTexts, lure, writeHostileScenario } from "../harness/hostile-texts.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { expectReplaysSame, recordSession } from "./recorded-session.ts";

const timeout = 240_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

describe.concurrent("an exported session", { timeout }, () => {
  it("is imported into another home once, is listed there, and replays the same", async (test) => {
    const recorded = await recordSession(test);
    const { cli, cliOf, session, at } = recorded;
    const { expect } = test;
    expect(await cli("sessions", "export", session.slice(0, 13), "--out", "s.jsonl")).toMatchObject({ code: 0 });
    const again = await cli("sessions", "export", session, "--out", "s.jsonl");
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("it exists already") });

    const other = await tempFolder("files-other", test);
    const imported = await cliOf(other, "sessions", "import", at("s.jsonl"), "--json");
    expect(JSON.parse(imported.stdout)).toMatchObject({ session, outcome: "imported", runs: 2 });
    const twice = await cliOf(other, "sessions", "import", at("s.jsonl"), "--json");
    expect(JSON.parse(twice.stdout)).toMatchObject({ session, outcome: "known" });
    const rows = JSON.parse((await cliOf(other, "sessions", "ls", "--json")).stdout);
    expect(rows).toMatchObject([{ session, status: "completed", runs: 2 }]);
    await expectReplaysSame({ cli: (...args) => cliOf(other, ...args) }, session, test);
    const back = await cliOf(other, "sessions", "export", session);
    expect(back.stdout).toBe(await readFile(at("s.jsonl"), "utf8"));
  });

  it("that was cut, changed or reordered is refused, and the broken place is named", async (test) => {
    const { cli, cliOf, session, root, at } = await recordSession(test);
    const { expect } = test;
    const lines = (await cli("sessions", "export", session)).stdout.trimEnd().split("\n");
    const other = await tempFolder("files-other", test);
    const refusal = async (changed: readonly string[], end = "\n"): Promise<string> => {
      await writeFile(at("bad.jsonl"), changed.join("\n") + end);
      const { code, stderr } = await cliOf(other, "sessions", "import", at("bad.jsonl"));
      expect(code).toBe(1);
      return stderr;
    };
    expect(await refusal(lines.slice(0, -1))).toContain(`it ends early, behind line ${lines.length - 1}`);
    expect(await refusal([lines.join("\n").slice(0, -9)], "")).toContain(`line ${lines.length} is cut off`);
    const isForged = (line: string): boolean => line.includes("three doors") && line.includes(`"run":"${root}"`);
    const forged = lines.map((line) => (isForged(line) ? line.replaceAll("three doors", "seven doors") : line));
    expect(await refusal(forged)).toMatch(/line \d+ \(entry \d+ of run [0-9a-f-]{36}\) does not match its hash chain/);
    expect(await refusal(lines.filter((_, i) => i !== 3))).toContain("line 4");
    const [a = "", b = "", c = "", d = "", ...rest] = lines;
    expect(await refusal([a, b, d, c, ...rest])).toContain("line 3");
    expect(await refusal(["hello"])).toContain("this is not a complete export of a session");
    expect(await refusal([])).toContain("this is not a complete export");
    expect((await cliOf(other, "sessions", "ls", "--json")).stdout).toBe("[]\n");
  });

  it("whose lines are valid, but not its entries, is refused", async (test) => {
    const { cli, cliOf, session, at } = await recordSession(test);
    const { expect } = test;
    const { chainOf, unseal } = await import("../../packages/recorder/src/archive/export-lines.ts");
    const lines = (await cli("sessions", "export", session)).stdout.trimEnd().split("\n");
    let chain = "";
    const resealed = lines.map((line) => {
      const open = (unseal(line)?.open ?? "").replaceAll("three doors", "seven doors");
      chain = chainOf(chain, open);
      return `${open.slice(0, -1)},"chain":"${chain}"}`;
    });
    await writeFile(at("forged.jsonl"), `${resealed.join("\n")}\n`);
    const other = await tempFolder("files-other", test);
    const { code, stderr } = await cliOf(other, "sessions", "import", at("forged.jsonl"));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/entry \d+ of run [0-9a-f-]{36} is damaged/)]);
  });

  it("can be read by a stranger: all messages, calls and results of all runs", async (test) => {
    const { cli, session } = await recordSession(test);
    const { expect } = test;
    const parts = [
      "count the doors",
      "I look first.",
      "Let me see.",
      "I count three doors.",
      "There are three doors.",
      "doors.txt",
    ];
    for (const format of ["md", "html"]) {
      const { stdout } = await cli("sessions", "export", session, "--format", format);
      expect(
        parts.filter((part) => !stdout.includes(part)),
        format,
      ).toEqual([]);
    }
    const { stdout: html } = await cli("sessions", "export", session, "--format", "html");
    expect(html).toContain("default-src 'none'");
    expect(html).toContain("@media print");
    expect(html).not.toMatch(/<script|<link|<img|src=|https?:\/\//);
    const { stdout: mermaid } = await cli("sessions", "export", session, "--format", "mermaid");
    expect(mermaid).toMatch(/^sequenceDiagram\n/);
    expect(mermaid).toContain("r0->>r1: count the doors");
    expect(mermaid).toContain("r1-->>r0: completed. I count three doors.");
  });

  it("as OTLP has the spans of the GenAI conventions, one tree, and no contents", async (test) => {
    const { cli, session } = await recordSession(test);
    const { expect } = test;
    const { stdout } = await cli("sessions", "export", session, "--format", "otlp");
    const { spans } = JSON.parse(stdout).resourceSpans[0].scopeSpans[0];
    const names = spans.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["invoke_workflow", "invoke_agent main", "invoke_agent researcher"]));
    expect(names).toEqual(expect.arrayContaining(["execute_tool delegate", "execute_tool write"]));
    const idOf = (name: string): string => spans.find((span: { name: string }) => span.name === name).spanId;
    const child = spans.find((span: { name: string }) => span.name === "invoke_agent researcher");
    expect(child.parentSpanId).toBe(idOf("execute_tool delegate"));
    const ids = new Set(spans.map(({ spanId }: { spanId: string }) => spanId));
    expect(ids.size).toBe(spans.length);
    for (const { traceId, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano } of spans) {
      expect(traceId).toBe(session.replaceAll("-", ""));
      expect(spanId).toMatch(/^[0-9a-f]{16}$/);
      if (parentSpanId) expect(ids).toContain(parentSpanId);
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true);
    }
    const chat = spans.find((span: { name: string }) => span.name.startsWith("chat "));
    const keys = chat.attributes.map(({ key }: { key: string }) => key);
    expect(keys).toEqual(
      expect.arrayContaining(["gen_ai.operation.name", "gen_ai.usage.input_tokens", "gen_ai.response.model"]),
    );
    expect(stdout).not.toContain("three doors");
  });
});

describe.concurrent("hostile content", { timeout }, () => {
  it("stays text in each format, and no control character of it reaches the terminal", async (test) => {
    const { expect } = test;
    const folder = await tempFolder("files-hostile", test);
    const home = await tempFolder("files-hostile-home", test);
    const env = { TROUPE_MODEL: `scripted/${await writeHostileScenario(folder)}` };
    const { troupe } = await import("../harness/cli.ts");
    const cli = (...args: string[]) => troupe(args, { home, cwd: folder, env });
    const ran = await cli("run", "--json", "--workspace", folder, hostileTexts["an image that fails"]);
    const { sessionId } = JSON.parse(ran.stdout);
    const texts: Record<string, string> = {};
    for (const format of ["jsonl", "md", "html", "otlp", "mermaid"]) {
      const { code, stdout } = await cli("sessions", "export", sessionId, "--format", format);
      expect(code).toBe(0);
      expect(controls.test(stdout), format).toBe(false);
      texts[format] = stdout;
    }
    expect(texts.html).not.toMatch(/<(script|img|iframe|svg|base|link)\b/);
    expect(texts.html).toContain("&lt;img src=x");
    // Outside of code fences, Markdown has nothing that an agent wrote.
    const outside = (texts.md ?? "").replace(/^(`{3,})text\n[\s\S]*?\n\1$/gm, "");
    expect(outside).not.toContain(lure);
    expect(outside).not.toMatch(/<(?!a id="run-|\/a>)/);
    for (const line of (texts.mermaid ?? "").trimEnd().split("\n").slice(1)) {
      expect(line).toMatch(
        /^ {2}(participant \w+ as|actor user as|Note over user:|\w+-?->>\w+:) ([\p{L}\p{N} .,()_/#;-]*)$/u,
      );
    }
    expect((await cli("sessions", "diff", sessionId, sessionId)).stdout).toContain("the same");
  });

  it("that looks like a fence cannot leave it", async (test) => {
    const { expect } = test;
    const text = "before\n```\n````text\n# forged heading\n";
    const { cli, session } = await recordSession(test, { agents: { main: [{ steps: [{ text }] }] } });
    const { stdout } = await cli("sessions", "export", session, "--format", "md");
    const outside = stdout.replace(/^(`{3,})text\n[\s\S]*?\n\1$/gm, "");
    expect(outside).not.toContain("forged heading");
    expect(stdout).toContain("# forged heading");
  });
});

describe.concurrent("an export that cannot be finished", { timeout }, () => {
  it("leaves no file: the folder does not exist, or the disk is full", async (test) => {
    const { cli, session, folder } = await recordSession(test);
    const { expect } = test;
    const missing = await cli("sessions", "export", session, "--out", "no/such/s.jsonl");
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot write") });
    expect((await readdir(folder)).filter((name) => name.includes("tmp"))).toEqual([]);
    const full = await cli("sessions", "export", session, "--out", "/dev/full/s.jsonl");
    expect(full).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot write") });
  });

  it("ends quietly when its reader has enough, and says so when standard output is full", async (test) => {
    const { home, folder, session, env } = await recordSession(test);
    const { expect } = test;
    const shell = (line: string) => startProgram(["sh", "-c", line], { home, cwd: folder, env }).ended;
    const command = `'${process.execPath}' '${cliPath}' sessions export ${session} --format md`;
    const head = await shell(`${command} | head -1`);
    expect(head).toMatchObject({ code: 0, stdout: `# Session ${session}\n`, stderr: "" });
    const full = await shell(`${command} > /dev/full`);
    expect(full.code).toBe(1);
    expect(full.stderr).toContain("no space left");
    const closed = await shell(`${command} <&- | head -1`);
    expect(closed).toMatchObject({ code: 0, stderr: "" });
  });
});
