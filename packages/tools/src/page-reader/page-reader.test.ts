// A hostile page can take any time and memory, so the extract process has a limit for both.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSimulatedClock } from "@troupe/core/memory";
import { systemClock } from "@troupe/core/system";
import { describe, expect, test, vi } from "vitest";
import { neverAborts } from "../http-client/servers.fixture.ts";
import type { ExtractInput, ExtractMode } from "./extract-page.ts";
import { createPageReader } from "./page-reader.ts";

const clock = systemClock();

function inputOf(body: string, mode: ExtractMode = "article"): ExtractInput {
  const html = `<!doctype html><html><head><title>T</title></head><body>${body}</body></html>`;
  return { bytes: Buffer.from(html), charset: null, url: "https://site.example/", mode, images: false };
}

const article = `<article><h1>News</h1>${"<p>Some words that are read, and some more of them, as in any article.</p>".repeat(20)}</article>`;

/** Starts its process for the first page. */
const shared = createPageReader({ clock });

describe("a page", () => {
  test("is extracted in another process, like the next one", async () => {
    const [first, second] = await Promise.all([
      shared.read(inputOf(article), neverAborts),
      shared.read(inputOf(article, "page"), neverAborts),
    ]);
    expect(first).toMatchObject({ format: "markdown", note: null, wordCount: expect.any(Number) });
    expect(first.content).toContain("Some words that are read");
    expect(second.format).toBe("markdown");
  });

  test("with deep nesting becomes plain text at once", async () => {
    const page = await shared.read(inputOf(`${"<div>".repeat(20_000)}deep`), neverAborts);
    expect(page).toMatchObject({ format: "text", content: "deep", note: expect.stringContaining("nested too deeply") });
  });

  test("that takes too long becomes plain text", async () => {
    const timesMs = [300, 60_000];
    const hurried = {
      ...clock,
      after: (_ms: number, callback: () => void) => clock.after(timesMs.shift() ?? 0, callback),
    };
    const reader = createPageReader({ clock: hurried });
    const page = await reader.read(inputOf(`<p>long ${"<b><i>x</b>".repeat(100_000)}`), neverAborts);
    expect(page).toMatchObject({ format: "text", note: expect.stringContaining("it takes longer than") });
    expect(timesMs).toEqual([]);
  });

  test("that takes too much memory becomes plain text, and this process survives", async () => {
    const reader = createPageReader({ clock, memoryMb: 40 });
    const many = Array.from({ length: 250_000 }, (_, i) => `a${i}=1`).join(" ");
    const page = await reader.read(inputOf(`<p ${many}>heavy</p>`), neverAborts);
    expect(page).toMatchObject({ format: "text", content: "heavy", note: expect.stringContaining("more memory") });
    expect((await reader.read(inputOf(article), neverAborts)).note).toBeNull();
  });

  test("that is too large is read up to the limit", async () => {
    const page = await shared.read(inputOf(`${article}<!--${"x".repeat(6_000_000)}--><p>end`), neverAborts);
    expect(page.note).toMatch(/^only the first 5000000 of 6\d{6} bytes were read$/);
    expect(page.content).toContain("Some words that are read");
  });

  test("that the caller cancels does not block the next one", async () => {
    const abort = new AbortController();
    const reader = createPageReader({ clock: createSimulatedClock() });
    const reading = reader.read(inputOf(`${"<p>x</p>".repeat(400_000)}`), abort.signal);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ runError: { type: "cancelled" } });
    expect((await reader.read(inputOf(article), neverAborts)).note).toBeNull();
  });

  test("without any readable text is an error", async () => {
    const reader = createPageReader({ clock: { ...clock, after: (_ms, callback) => clock.after(0, callback) } });
    await expect(reader.read(inputOf("x"), neverAborts)).rejects.toMatchObject({
      message: expect.stringContaining("the page cannot be read: it takes longer"),
      runError: { type: "tool_error" },
    });
  });
});

test("the extract process does not keep its parent alive", { timeout: 30_000 }, async () => {
  const file = fileURLToPath(new URL("./page-reader.ts", import.meta.url));
  const script = `
    import { createPageReader } from ${JSON.stringify(file)};
    const clock = { now: () => 0, monotonicMs: () => 0, after: (ms, f) => { const t = setTimeout(f, ms); return () => clearTimeout(t); } };
    const page = await createPageReader({ clock }).read(
      { bytes: Buffer.from("<p>hello"), charset: null, url: "https://x.example/", mode: "page", images: false },
      new AbortController().signal,
    );
    process.stdout.write(page.content);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    timeout: 25_000,
  });
  expect(stdout).toBe("hello");
});

test.runIf(process.platform === "linux")(
  "the extract process dies with its parent, even during an extraction",
  async () => {
    const program = fileURLToPath(new URL("./extract-process.ts", import.meta.url));
    const parentScript = `
    const { fork } = require("node:child_process");
    const child = fork(${JSON.stringify(program)}, [], { serialization: "advanced", stdio: ["ignore", "ignore", "ignore", "ipc"] });
    const bytes = Buffer.from("<body>" + "<div>x".repeat(180).concat("</div>".repeat(180)).repeat(2000));
    child.send({ bytes, charset: null, url: "https://x.example/", mode: "article", images: false });
    process.stdout.write(String(child.pid));
    setInterval(() => {}, 1000);`;
    const parent = execFile(process.execPath, ["-e", parentScript]);
    const pid = await new Promise<number>((resolve) => parent.stdout?.once("data", (text) => resolve(Number(text))));
    // After this CPU time, the extraction has begun.
    await vi.waitUntil(async () => (await ticksOf(pid)) > 40, { timeout: 20_000, interval: 50 });
    parent.kill("SIGKILL");
    await expect.poll(() => ticksOf(pid), { timeout: 10_000, interval: 50 }).toBe(-1);
  },
);

/** The CPU time of a process in hundredths of a second; -1 if the process is gone. */
async function ticksOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [state, , , , , , , , , , , user] = status.slice(status.lastIndexOf(")") + 2).split(" ");
  return status === "" || state === "Z" ? -1 : Number(user);
}
