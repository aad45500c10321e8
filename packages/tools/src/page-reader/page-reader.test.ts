// A page can be made to take all the time and memory that it gets. It gets a process of its own, and little of both.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSimulatedClock } from "@troupe/core/memory";
import { systemClock } from "@troupe/core/system";
import { describe, expect, test, vi } from "vitest";
import { patient } from "../http-client/servers.fixture.ts";
import type { PageJob } from "./page-job.ts";
import { createPageReader } from "./page-reader.ts";

const clock = systemClock();

function jobOf(body: string, want: PageJob["want"] = "article"): PageJob {
  const html = `<!doctype html><html><head><title>T</title></head><body>${body}</body></html>`;
  return { bytes: Buffer.from(html), charset: null, url: "https://site.example/", want, images: false };
}

const words = `<article><h1>News</h1>${"<p>Some words that are read, and some more of them, as in any article.</p>".repeat(20)}</article>`;

describe("a page", () => {
  test("is read in another process, and the next one as well", async () => {
    const reader = createPageReader({ clock });
    const [first, second] = await Promise.all([
      reader.read(jobOf(words), patient),
      reader.read(jobOf(words, "page"), patient),
    ]);
    expect(first).toMatchObject({ form: "markdown", note: null, words: expect.any(Number) });
    expect(first.content).toContain("Some words that are read");
    expect(second.form).toBe("markdown");
  });

  test("of deep nesting is text, at once", async () => {
    const page = await createPageReader({ clock }).read(jobOf(`${"<div>".repeat(20_000)}deep`), patient);
    expect(page).toMatchObject({ form: "text", content: "deep", note: expect.stringContaining("nested too deeply") });
  });

  test("that takes too long is text", async () => {
    const timesMs = [1_500, 60_000];
    const hurried = {
      ...clock,
      after: (_ms: number, callback: () => void) => clock.after(timesMs.shift() ?? 0, callback),
    };
    const reader = createPageReader({ clock: hurried });
    const page = await reader.read(jobOf(`<p>long ${"<b><i>x</b>".repeat(300_000)}`), patient);
    expect(page).toMatchObject({ form: "text", note: expect.stringContaining("it takes longer than") });
    expect(timesMs).toEqual([]);
  });

  test("that takes too much memory is text, and this process lives", async () => {
    const reader = createPageReader({ clock, memoryMb: 64 });
    const many = Array.from({ length: 400_000 }, (_, i) => `a${i}=1`).join(" ");
    const page = await reader.read(jobOf(`<p ${many}>heavy</p>`), patient);
    expect(page).toMatchObject({ form: "text", content: "heavy", note: expect.stringContaining("more memory") });
    expect((await reader.read(jobOf(words), patient)).note).toBeNull();
  });

  test("that is very long is read from its beginning", async () => {
    const page = await createPageReader({ clock }).read(
      jobOf(`${words}<!--${"x".repeat(6_000_000)}--><p>end`),
      patient,
    );
    expect(page.note).toMatch(/^only the first 5000000 of its 6\d{6} bytes were read$/);
    expect(page.content).toContain("Some words that are read");
  });

  test("that is given up is read no more", async () => {
    const abort = new AbortController();
    const reader = createPageReader({ clock: createSimulatedClock() });
    const reading = reader.read(jobOf(`${"<p>x</p>".repeat(400_000)}`), abort.signal);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ runError: { type: "cancelled" } });
    expect((await reader.read(jobOf(words), patient)).note).toBeNull();
  });

  test("that not even its text can be had of is an error", async () => {
    const reader = createPageReader({ clock: { ...clock, after: (_ms, callback) => clock.after(0, callback) } });
    await expect(reader.read(jobOf("x"), patient)).rejects.toMatchObject({
      message: expect.stringContaining("the page cannot be read: it takes longer"),
      runError: { type: "tool_error" },
    });
  });
});

test("whoever has read a page can end: its process goes with it", { timeout: 30_000 }, async () => {
  const file = fileURLToPath(new URL("./page-reader.ts", import.meta.url));
  const script = `
    import { createPageReader } from ${JSON.stringify(file)};
    const clock = { now: () => 0, monotonicMs: () => 0, after: (ms, f) => { const t = setTimeout(f, ms); return () => clearTimeout(t); } };
    const page = await createPageReader({ clock }).read(
      { bytes: Buffer.from("<p>hello"), charset: null, url: "https://x.example/", want: "page", images: false },
      new AbortController().signal,
    );
    process.stdout.write(page.content);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    timeout: 25_000,
  });
  expect(stdout).toBe("hello");
});

test.runIf(process.platform === "linux")("a page that is at work does not outlive who reads it", async () => {
  const program = fileURLToPath(new URL("./extract-process.ts", import.meta.url));
  const keeper = `
    const { fork } = require("node:child_process");
    const child = fork(${JSON.stringify(program)}, [], { serialization: "advanced", stdio: ["ignore", "ignore", "ignore", "ipc"] });
    const bytes = Buffer.from("<body>" + "<div>x".repeat(180).concat("</div>".repeat(180)).repeat(2000));
    child.send({ bytes, charset: null, url: "https://x.example/", want: "article", images: false });
    process.stdout.write(String(child.pid));
    setInterval(() => {}, 1000);`;
  const parent = execFile(process.execPath, ["-e", keeper]);
  const pid = await new Promise<number>((resolve) => parent.stdout?.once("data", (text) => resolve(Number(text))));
  // It is in the middle of it when it has taken a second of the processor.
  await vi.waitUntil(async () => (await ticksOf(pid)) > 100, { timeout: 20_000, interval: 50 });
  parent.kill("SIGKILL");
  await vi.waitUntil(async () => (await ticksOf(pid)) === -1, { timeout: 10_000, interval: 50 });
});

/** Time of the processor that a process has had, in hundredths of a second; -1 where it is gone. */
async function ticksOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [state, , , , , , , , , , , user] = status.slice(status.lastIndexOf(")") + 2).split(" ");
  return status === "" || state === "Z" ? -1 : Number(user);
}
