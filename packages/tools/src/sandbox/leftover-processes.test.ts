// All processes of a command must be gone when it ends, however it ends: a leftover process would go on acting for a
// run that the user can no longer see. Tested on every kind of sandbox.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, vi } from "vitest";
import { findControllers } from "./processes/control-group.ts";
import { everyKind, living, planned, runLine, sandboxTest as test } from "./sandbox.fixture.ts";

/** Shell lines that leave a process behind. T is its sleep time, by which the test finds it. */
const waysToStay: Record<string, string> = {
  "in the background": "sleep T &",
  "in the background, without our pipes": "sleep T > /dev/null 2>&1 < /dev/null &",
  "deaf to hangups": "nohup sleep T > /dev/null 2>&1 &",
  "deaf to being asked": "(trap '' TERM HUP INT; exec sleep T) & sleep 0.2",
  "in a session of its own": "setsid sleep T &",
  "forked twice, in a session of its own": "(setsid sh -c 'sleep T & sleep T & exit' &) ; sleep 0.2",
  stopped: "sleep T & kill -STOP $!",
  "stopped, in a session of its own": "setsid sleep T & sleep 0.2; kill -STOP $!",
};

const endings = ["by itself", "when its time is over", "when it is cancelled"] as const;

for (const [k, kind] of everyKind.entries()) {
  describe.concurrent(`${kind}: no process of a command is left`, () => {
    for (const [w, [way, line]] of Object.entries(waysToStay).entries()) {
      for (const [e, ending] of endings.entries()) {
        // Bubblewrap and a process group meet each way, namespaces each ending: the kernel ends both in the same way. The
        // long run tries all.
        if (!inject("long") && ((k + w + e) % endings.length !== 0 || (kind === "namespaces" && w > 2))) continue;
        test(`that ends ${ending}, ${way}`, async ({ sandboxOf, workspace, token }) => {
          const sandbox = await sandboxOf(kind);
          const abort = new AbortController();
          const started = line.replaceAll("T", token);
          const running = runLine(sandbox, workspace, ending === "by itself" ? started : `${started}\nsleep ${token}`, {
            timeoutMs: ending === "when its time is over" ? 700 : 60_000,
            signal: abort.signal,
          });
          if (ending === "when it is cancelled") {
            await vi.waitUntil(async () => (await living(token)).length > 0);
            abort.abort();
          }

          const end = await running;

          const reasons = {
            "by itself": "exited",
            "when its time is over": "timeout",
            "when it is cancelled": "aborted",
          };
          expect(end.reason).toBe(reasons[ending]);
          expect(await living(token)).toEqual([]);
        });
      }
    }
  });

  test(`${kind}: a process that ignores SIGTERM is killed two seconds later`, async ({
    sandboxOf,
    workspace,
    token,
  }) => {
    const sandbox = await sandboxOf(kind);
    const abort = new AbortController();
    const deaf = `trap '' TERM; touch deaf-$1; while :; do sleep ${token} & wait; done`;
    const line = `setsid sh -c "${deaf.replaceAll("$", "\\$")}" sh 1 & set -- 2; ${deaf}`;
    const running = runLine(sandbox, workspace, line, { signal: abort.signal });
    const isDeaf = (name: string) => existsSync(join(workspace, name));
    await vi.waitUntil(() => isDeaf("deaf-1") && isDeaf("deaf-2"));

    const askedMs = performance.now();
    abort.abort();

    expect((await running).reason).toBe("aborted");
    expect(performance.now() - askedMs).toBeGreaterThan(1_900);
    expect(await living(token)).toEqual([]);
  });

  test(`${kind}: a command that closes its output runs until its end`, async ({ run }) => {
    const end = await run(kind, "echo said; exec >&- 2>&-; sleep 0.3; touch done; exit 5");

    expect(end).toMatchObject({ reason: "exited", code: 5, output: "said\n" });
    expect((await run(kind, "ls done")).stdout).toBe("done\n");
  });

  test(`${kind}: the cap limits processes, other commands continue, and no process is left at the end`, async ({
    sandboxOf,
    workspace,
    token,
  }) => {
    const sandbox = await sandboxOf(kind, { processes: 40 });
    const crowd = `(i=0; while [ $i -lt 100 ]; do sleep ${token} & i=$((i + 1)); done); exec sleep ${token}`;
    const abort = new AbortController();
    const running = runLine(sandbox, workspace, crowd, { signal: abort.signal });
    await vi.waitUntil(async () => (await living(token)).length > 20);

    expect(await runLine(sandbox, workspace, "echo still here")).toMatchObject({ code: 0, stdout: "still here\n" });
    const many = (await living(token)).length;
    abort.abort();
    await running;

    // The processes that build the sandbox have the command in their own command line.
    expect(many).toBeLessThan(60);
    expect(await living(token)).toEqual([]);
  });

  test(`${kind}: a fork bomb ends with the command`, async ({ sandboxOf, workspace, token }) => {
    const sandbox = await sandboxOf(kind, { processes: 40 });
    // It ends at a thousand processes if no cap stops it.
    const bomb = `b() { [ $1 -gt 0 ] || exec sleep ${token}; b $(($1 - 1)) & b $(($1 - 1)) & b $(($1 - 1)) & }; b 6; sleep 0.5`;

    await runLine(sandbox, workspace, `sh -c '${bomb}' ${token} 2> /dev/null`);

    expect(await living(token)).toEqual([]);
    expect(await runLine(sandbox, workspace, "echo still here")).toMatchObject({ stdout: "still here\n" });
  });
}

for (const kind of planned) {
  test(`${kind}: all processes of a command die with their parent, and the next command cleans up`, async ({
    sandboxOf,
    workspace,
    token,
    programs,
  }) => {
    await sandboxOf(kind);
    await mkdir(join(workspace, ".git/hooks"), { recursive: true });
    await mkdir(join(workspace, ".claude"));
    const before = await contents(workspace);
    const line = `(setsid nohup sleep ${token} &); sleep ${token}`;
    const daemon = anotherProcess(join(programs, kind), workspace, line);
    await vi.waitUntil(async () => (await living(`sleep\0${token}`)).length === 2);

    daemon.kill("SIGKILL");
    await once(daemon, "exit");

    await vi.waitUntil(async () => (await living(token)).length === 0);

    // Placeholders of the killed process are removed before the next command in this workspace.
    expect(await contents(workspace)).not.toEqual(before);
    await runLine(await sandboxOf(kind), workspace, "true");
    expect(await contents(workspace)).toEqual(before);
    const { memory = null, pids = null } = (await findControllers()) ?? {};
    const groups = await Promise.all([memory, pids].map(async (folder) => (folder ? readdir(folder) : [])));
    expect(groups.flat().filter((name) => name.startsWith(`troupe-${daemon.pid}-`))).toEqual([]);
  });
}

for (const kind of planned) {
  test(`${kind}: protected paths stay protected when another process ends in the same workspace`, async ({
    sandboxOf,
    workspace,
    programs,
  }) => {
    const sandbox = await sandboxOf(kind);
    const there = (name: string) => existsSync(join(workspace, name));
    const line = "touch a; until [ -e go ]; do sleep 0.02; done";
    const first = anotherProcess(join(programs, kind), workspace, line, "await once(process.stdin, 'data');");
    await vi.waitUntil(() => there("a"));
    const attempt = "touch b; until [ -e gone ]; do sleep 0.02; done; echo evil > .envrc; echo evil > .claude/x";
    const second = runLine(sandbox, workspace, attempt);
    await vi.waitUntil(() => there("b"));
    await writeFile(join(workspace, "go"), "");
    await once(first.stdout ?? first, "data");
    await writeFile(join(workspace, "gone"), "");
    await second;
    // The other process lives on, but needs no placeholder here any more.
    expect(await contents(workspace)).toEqual(["a", "b", "go", "gone"]);
    first.stdin?.end("end");
    await once(first, "exit");
  });
}

/** A separate process that runs a shell line in the best sandbox of these programs. */
function anotherProcess(programs: string, workspace: string, line: string, then = ""): ChildProcess {
  const script = `
    const { once } = await import("node:events");
    const { createSandbox } = await import(${JSON.stringify(join(import.meta.dirname, "create-sandbox.ts"))});
    const sandbox = await createSandbox({ path: ${JSON.stringify(programs)} });
    await sandbox.run({
      argv: ["/bin/sh", "-c", ${JSON.stringify(line)}],
      workspace: ${JSON.stringify(workspace)}, writes: [], timeoutMs: 60000,
      signal: new AbortController().signal, captureBytesMax: 1000,
    });
    console.log("done");
    ${then}`;
  return spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
}

async function contents(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).toSorted();
}
