import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import type { CommandResult, Sandbox, SandboxedCommand } from "../sandbox/sandbox.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { createRipgrep, locateRipgrep, type RipgrepSearch } from "./ripgrep.ts";

const missing = (): Promise<string> => Promise.reject(new Error("Could not find the package"));

describe("ripgrep is", () => {
  test("the bundled one", async () => {
    expect(await locateRipgrep({ path: "" })).toMatch(/@vscode.*rg(\.exe)?$/);
  });

  test("else the one on the PATH", async ({ folder }) => {
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin", "rg"), "#!/bin/sh\n");
    await chmod(join(folder, "bin", "rg"), 0o755);
    expect(await locateRipgrep({ bundled: missing, path: `/nowhere::${join(folder, "bin")}` })).toBe(
      join(folder, "bin", "rg"),
    );
  });

  test("else missing, with an error that says how to install it", async ({ folder }) => {
    await expect(locateRipgrep({ bundled: missing, path: folder })).rejects.toThrow(
      /ripgrep is not installed.*install troupe again with its optional dependencies, or install ripgrep/,
    );
  });
});

describe("it runs", () => {
  test("in the sandbox, without a shell, where it can write nothing", async () => {
    const { sandbox, commands } = recording({});
    await createRipgrep({ sandbox, locate: async () => "/opt/rg/bin/rg" }).run(["--files", "--", "."], about);
    const [command] = commands;
    expect(command).toMatchObject({ writes: [[]], readable: ["/opt/rg/bin"], workspace: "/w", timeoutMs: 30_000 });
    expect(command?.argv[0]).toBe("/opt/rg/bin/rg");
    expect(command?.argv).toEqual(expect.arrayContaining(["--no-config", "--no-follow", "--glob=!.git"]));
    expect(command?.argv.slice(-3)).toEqual(["--files", "--", "."]);
  });

  test("again after a failed search for the program", async () => {
    const { sandbox } = recording({});
    let tries = 0;
    const locate = async (): Promise<string> => {
      tries += 1;
      if (tries === 1) throw new Error("not there");
      return "rg";
    };
    const ripgrep = createRipgrep({ sandbox, locate });
    await expect(ripgrep.run([], about)).rejects.toThrow("not there");
    await expect(ripgrep.run([], about)).resolves.toMatchObject({ stdout: "" });
  });
});

describe("nothing is left of it", () => {
  test.for([
    { what: "when it is cancelled", timeoutMs: 60_000, type: "cancelled" },
    { what: "when it is out of time", timeoutMs: 300, type: "timeout" },
  ])("$what", { timeout: 30_000 }, async ({ timeoutMs, type }, { folder }) => {
    const bin = join(folder, "bin");
    const workspace = join(folder, "workspace");
    await mkdir(bin);
    await mkdir(workspace);
    await writeFile(join(bin, "rg"), `#!/bin/sh\nexec env TOKEN=${type}-${process.pid} sleep 300\n`);
    await chmod(join(bin, "rg"), 0o755);
    const stop = new AbortController();
    const ripgrep = createRipgrep({ sandbox: await createSandbox(), locate: async () => join(bin, "rg") });

    const running = ripgrep.run([], { ...about, workspace, timeoutMs, signal: stop.signal });
    if (type === "cancelled") {
      await expect.poll(() => processesWith(`TOKEN=${type}-${process.pid}`), { timeout: 20_000 }).not.toEqual([]);
      stop.abort();
    }

    await expect(running).rejects.toMatchObject({ runError: { type } });
    expect(await processesWith(`TOKEN=${type}-${process.pid}`)).toEqual([]);
  });
});

describe("it returns", () => {
  test.for<{ what: string; end: Partial<CommandResult>; fails: object }>([
    { what: "cancelled", end: { reason: "aborted" }, fails: { type: "cancelled" } },
    {
      what: "out of time, with how to narrow it",
      end: { reason: "timeout" },
      fails: { type: "timeout", message: expect.stringMatching(/after 30 s.*narrow it with path, glob or type/) },
    },
    {
      what: "a signal",
      end: { code: null, signal: "SIGSEGV" },
      fails: { message: expect.stringContaining("SIGSEGV") },
    },
    { what: "a crash without a word", end: { code: 2 }, fails: { message: expect.stringContaining("exit code 2") } },
    {
      what: "a bad pattern, in one line",
      end: { code: 2, output: "rg: regex parse error:\n    (?:f()\n    ^\nerror: unclosed group\n" },
      fails: { type: "params", message: "unclosed group" },
    },
  ])("$what", async ({ end, fails }) => {
    const { sandbox } = recording(end);
    const running = createRipgrep({ sandbox, locate: async () => "rg" }).run([], about);
    await expect(running).rejects.toMatchObject({ runError: fails });
  });

  test("the matches if only a part could not be read", async () => {
    const { sandbox } = recording({
      code: 2,
      stdout: "./a\0",
      output: "./a\0rg: ./closed: Permission denied (os error 13)\n",
    });
    expect(await createRipgrep({ sandbox, locate: async () => "rg" }).run([], about)).toEqual({
      stdout: "./a\0",
      isCut: false,
      unreadable: ["closed: Permission denied"],
    });
  });
});

const about: RipgrepSearch = {
  workspace: "/w",
  signal: new AbortController().signal,
  timeoutMs: 30_000,
  captureBytesMax: 1_000,
};

/** The processes of this machine with this text in their environment. */
async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environment.includes(text) ? [pid] : [];
    }),
  );
  return found.flat();
}

function recording(end: Partial<CommandResult>): { sandbox: Sandbox; commands: SandboxedCommand[] } {
  const commands: SandboxedCommand[] = [];
  const sandbox: Sandbox = {
    kind: "bubblewrap",
    contains: true,
    network: false,
    detail: "",
    fix: null,
    async run(command) {
      commands.push(command);
      return { reason: "exited", code: 0, signal: null, output: "", stdout: "", droppedBytes: 0, ...end };
    },
  };
  return { sandbox, commands };
}
