import { mkdtempDisposable, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, describe, expect, vi } from "vitest";
import { probeOnce } from "./remembered-probes.ts";

const it = base.extend<{ program: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  program: async ({}, use) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-probe-"));
    const program = join(folder.path, "program");
    await writeFile(program, "one");
    await use(program);
  },
});

describe("a test of what the machine can do", () => {
  it("runs once for the same facts and programs", async ({ program }) => {
    const probe = vi.fn(async () => null);
    const ask = () => probeOnce({ facts: { kind: "a" }, programs: [program, ""] }, probe);
    expect([await ask(), await ask(), await ask()]).toEqual([null, null, null]);
    expect(probe).toHaveBeenCalledTimes(1);
  });

  it("runs again after a failure, and tells its reason", async ({ program }) => {
    const probe = vi.fn<() => Promise<string | null>>().mockResolvedValueOnce("no namespaces").mockResolvedValue(null);
    const ask = () => probeOnce({ facts: "b", programs: [program] }, probe);
    expect([await ask(), await ask(), await ask()]).toEqual(["no namespaces", null, null]);
    expect(probe).toHaveBeenCalledTimes(2);
  });

  it.for([
    { what: "a fact differs", change: async () => {}, facts: "other" },
    { what: "a program was written again", change: (program: string) => writeFile(program, "two"), facts: "c" },
    { what: "a program was exchanged for another one", change: exchange, facts: "c" },
    { what: "a program was removed", change: (program: string) => rename(program, `${program}.old`), facts: "c" },
  ])("runs again if $what", async ({ change, facts }, { program }) => {
    const probe = vi.fn(async () => null);
    await probeOnce({ facts: "c", programs: [program] }, probe);
    await change(program);
    await probeOnce({ facts, programs: [program] }, probe);
    expect(probe).toHaveBeenCalledTimes(2);
  });

  it("runs again after a minute", async ({ program, onTestFinished }) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const probe = vi.fn(async () => null);
    const ask = () => probeOnce({ facts: "d", programs: [program] }, probe);
    await ask();
    vi.advanceTimersByTime(59_000);
    await ask();
    expect(probe).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1_000);
    await ask();
    expect(probe).toHaveBeenCalledTimes(2);
  });
});

/** As package managers do. */
async function exchange(program: string): Promise<void> {
  await writeFile(`${program}.new`, "one");
  await rename(`${program}.new`, program);
}
