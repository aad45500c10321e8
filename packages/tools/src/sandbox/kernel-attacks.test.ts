// Attack tests: each one makes raw system calls, as a command, that programs do not need and attackers do.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, inject } from "vitest";
import { createSandbox } from "./create-sandbox.ts";
import { pathWith } from "./kind-programs.test-helper.ts";
import { containing, planned, runLine, sandboxTest as test } from "./sandbox.fixture.ts";
import { callTable, errorNumbers } from "./system-calls/call-table.ts";
import { architectureOf } from "./system-calls/seccomp-filter.ts";

const architecture = architectureOf() ?? "x86_64";

/** The name and the arguments of calls, as perl expressions. Most of them succeed without the filter. */
const attacks: Readonly<Record<string, readonly [name: string, ...args: string[]]>> = {
  "it reads the user's keyring": ["keyctl", "0", "-4", "1"],
  "it adds a key": ["add_key", '"user"', '"made"', '"secret"', "6", "-3"],
  "it asks for a key": ["request_key", '"user"', '"wanted"', "0", "-3"],
  "it reaches the host of a virtual machine (VSOCK)": ["socket", "40", "1", "0"],
  "it loads code for ciphers (ALG)": ["socket", "38", "5", "0"],
  "it reads packets (PACKET)": ["socket", "17", "2", "0"],
  "it loads a protocol that few programs use (SCTP)": ["socket", "2", "1", "132"],
  "it reads events of devices (NETLINK)": ["socket", "16", "3", "15"],
  "it makes a pair of sockets of a rare family (TIPC)": ["socketpair", "30", "1", "0", '"\\0" x 8'],
  "it makes a ring of requests (io_uring)": ["io_uring_setup", "4", '"\\0" x 256'],
  "it holds page faults open": ["userfaultfd", "1"],
  "it loads code into the kernel (BPF)": ["bpf", "0", '"\\0" x 128', "128"],
  "it measures the processor": ["perf_event_open", '"\\0" x 128', "0", "-1", "-1", "0"],
  "it traces its first process": ["ptrace", "16902", "1", "0", "0"],
  "it reads memory of its first process": ["process_vm_readv", "1", '"\\0" x 16', "1", '"\\0" x 16', "1", "0"],
  "it compares processes": ["kcmp", "$$", "1", "0", "0", "0"],
  "it makes a user namespace": ["unshare", "0x10000000"],
  "it makes a process in a new namespace": ["clone", "0x20000011", "0", "0", "0", "0"],
  "it makes a process with flags that a filter cannot read": ["clone3", '"\\0" x 88', "88"],
  "it opens a file system": ["fsopen", '"tmpfs"', "0"],
  "it copies a mount": ["open_tree", "-100", '"/"', "1"],
  "it mounts": ["mount", '"x"', '"/tmp"', '"tmpfs"', "0", "0"],
  "it gets the number of a file": [
    "name_to_handle_at",
    "-100",
    '"."',
    '"\\x80\\0\\0\\0" . "\\0" x 200',
    '"\\0" x 8',
    "0",
  ],
  "it makes data executable (personality)": ["personality", "0x0400000"],
  "it reads messages of the kernel": ["syslog", "10", "0", "0"],
  "it shares pages with a pipe": ["vmsplice", "1", '"\\0" x 16', "0", "0"],
  "it types into a terminal": ["ioctl", "0", "0x5412", '"x"'],
};

/** A program that makes each call in a process of its own, and prints the numbers of the errors. */
function callsInPerl(calls: Iterable<readonly (string | number | null | undefined)[]>): string[] {
  const lists = [...calls].map((call) => `[${call.join(", ")}]`);
  // The kernel may write into the arguments, so they are copied.
  const script = `$| = 1; for $call (${lists.join(", ")}) {
    $child = fork; waitpid($child, 0), next if $child;
    ($number, @args) = @$call; $r = syscall($number, @args); print $r == -1 ? $! + 0 : "done", "\\n"; exit }`;
  return ["perl", "-e", script];
}

for (const [k, kind] of containing.entries()) {
  describe(`${kind}: the kernel refuses a command when`, () => {
    test("it makes a call of an attack", async ({ run }) => {
      const rows = Object.values(attacks).map(([name]) => callTable.find((row) => row.name === name));
      const calls = Object.values(attacks).map(([, ...args], i) => [rows[i]?.numbers[architecture], ...args]);
      const end = await run(kind, "", { argv: callsInPerl(calls) });
      const results = end.output.trim().split("\n");
      const expected = rows.map((row) => String(errorNumbers[row?.error ?? "EPERM"]));
      const byName = (values: readonly string[]) =>
        Object.fromEntries(Object.keys(attacks).map((name, i) => [name, values[i]]));
      expect(byName(results)).toEqual(byName(expected));
    });

    test("it makes a call that no release has judged, or an x32 call", async ({ run }) => {
      const calls = [470, 4_000, 0x4000_0027].map((number) => [number, 0]);
      expect((await run(kind, "", { argv: callsInPerl(calls) })).output).toBe("38\n".repeat(3));
    });

    test("its first process makes calls", async ({ run }) => {
      expect((await run(kind, "grep Seccomp: /proc/1/status /proc/self/status | cut -f 2")).stdout).toBe("2\n2\n");
    });

    test("it makes 32-bit calls", async ({ run, workspace }) => {
      if (process.arch !== "x64") return expect(architecture).toBe("aarch64");
      await writeFile(join(workspace, "program"), programOf32BitCall(), { mode: 0o755 });
      // Without the filter it exits with its process id.
      expect((await run(kind, "./program")).code).toBe(errorNumbers.EPERM);
    });
  });

  test(`${kind}: programs that every project uses work`, async ({ run, workspace }) => {
    await writeFile(join(workspace, "threads.c"), threadsInC);
    const names = [...new Set(usualPrograms.map(([program]) => program))];
    const found = await run(
      kind,
      `for name in ${names.join(" ")}; do command -v $name > /dev/null && echo $name; done`,
    );
    const installed = usualPrograms.filter(([program]) => found.stdout.split("\n").includes(program));
    for (const [i, [, line, output]] of installed.entries()) {
      // All kinds have the same filter. In the normal run, each program meets one of them.
      if (!inject("long") && (i + k) % containing.length !== 0) continue;
      expect(await run(kind, line), line).toMatchObject({ code: 0, output: expect.stringContaining(output) });
    }
  });
}

// Each of the next two starts a host for each kind.
for (const kind of planned) {
  test(`${kind}: a command cannot find the keys of this process, and neither could it without the filter`, async ({
    programs,
    workspace,
  }) => {
    await pathWith(join(programs, kind), kind);
    await writeFile(join(workspace, "search.pl"), searchForKey);
    const host = ["--input-type=module", "-e", hostThatRunsSearch(join(programs, kind), workspace)];
    const { stdout } = await promisify(execFile)("perl", ["-e", holdKey, process.execPath, ...host]);
    expect(JSON.parse(stdout)).toEqual({
      kind,
      outside: "found SECRET, listed",
      inside: "not found, not listed",
      withoutFilter: "not found, listed",
    });
  });
}

for (const kind of inject("long") ? containing : containing.slice(-1)) {
  test(`${kind}: an ordinary user's commands are filtered and limited too, and have no rights`, async ({ folder }) => {
    const line =
      "grep -h -E '^(Seccomp:|Cap|NoNewPrivs)' /proc/self/status | cut -f 2; ulimit -H -c; ulimit -H -t; perl -e 'print syscall(4000)'";
    const helper = join(import.meta.dirname, "ordinary-user.test-helper.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [helper, kind, folder, line]);
    const { user, ...result } = JSON.parse(stdout);
    expect(user).not.toBe(0);
    expect(result).toMatchObject({
      kind,
      code: 0,
      detail: expect.stringContaining("system calls are filtered;"),
      output: `${"0000000000000000\n".repeat(5)}1\n2\n0\n3600\n-1`,
    });
  });
}

describe("a machine", () => {
  test("whose bubblewrap has no perl filters system calls, and says what is missing", async ({ folder, workspace }) => {
    for (const kind of containing) {
      const sandbox = await createSandbox({ path: await pathWith(join(folder, kind), kind, { without: ["perl"] }) });
      expect(sandbox).toMatchObject({ kind, contains: true, fix: expect.stringContaining("install perl") });
      const isFiltered = kind === "bubblewrap";
      expect(sandbox.detail).toContain(isFiltered ? "share the session keyring" : "system calls are not filtered");
      const { stdout } = await runLine(sandbox, workspace, "grep Seccomp: /proc/self/status");
      expect(stdout).toBe(`Seccomp:\t${isFiltered ? 2 : 0}\n`);
    }
  });

  test("with a perl that does not work uses python, and without both the sandbox still works", async ({
    folder,
    workspace,
  }) => {
    for (const kind of containing) {
      const path = await pathWith(join(folder, kind), kind, { without: ["perl"], also: ["python3"] });
      await writeFile(join(path, "perl"), "#!/bin/sh\nexit 3\n", { mode: 0o755 });
      const sandbox = await createSandbox({ path });
      expect(sandbox).toMatchObject({ kind, contains: true, fix: null });
      expect(sandbox.detail).toContain("system calls are filtered;");
      const { stdout } = await runLine(sandbox, workspace, "grep -h -E '^(Seccomp:|Cap)' /proc/self/status | cut -f 2");
      expect(stdout).toBe(`${"0000000000000000\n".repeat(5)}2\n`);
    }
  });
});

/** Gets a session keyring with a key, and runs the program in its arguments. */
const holdKey = `
syscall(${numberOf("keyctl")}, 1, 0) > 0 or die "join: $!";
@key = ("user", "troupe-test-key", "SECRET");
syscall(${numberOf("add_key")}, @key, 6, -3) > 0 or die "add: $!";
exec @ARGV`;

/** Searches the session's and the user's keyrings for the key, and for its name in the list of keys. */
const searchForKey = `
@key = ("user", "troupe-test-key");
for $keyring (-3, -4, -5) {
  $id = syscall(${numberOf("keyctl")}, 10, $keyring, @key, 0);
  next if $id == -1;
  $text = "\\0" x 6;
  syscall(${numberOf("keyctl")}, 11, $id, $text, 6);
  $found = "found $text";
}
open(K, "<", "/proc/keys"); $listed = grep { /troupe-test-key/ } <K>;
print $found || "not found", $listed ? ", listed" : ", not listed";`;

function numberOf(name: string): number {
  return callTable.find((row) => row.name === name)?.numbers[architecture] ?? -1;
}

function hostThatRunsSearch(path: string, workspace: string): string {
  const module = (name: string): string => JSON.stringify(join(import.meta.dirname, name));
  return `
    import { execFileSync } from "node:child_process";
    const { createSandbox } = await import(${module("create-sandbox.ts")});
    const { enterArguments, kernelGuards } = await import(${module("system-calls/kernel-guard.ts")});
    const { findPrograms } = await import(${module("programs.ts")});
    const search = ["perl", ${JSON.stringify(join(workspace, "search.pl"))}];
    const run = ([program, ...args]) => String(execFileSync(program, args));
    const sandbox = await createSandbox({ path: ${JSON.stringify(path)} });
    const { output } = await sandbox.run({
      argv: search, workspace: ${JSON.stringify(workspace)}, writes: [], timeoutMs: 60000,
      signal: new AbortController().signal, captureBytesMax: 1000,
    });
    const [guard] = await kernelGuards(await findPrograms(${JSON.stringify(path)}));
    const withoutFilter = run([...enterArguments(guard, { group: null }), ...search]);
    console.log(JSON.stringify({ kind: sandbox.kind, outside: run(search), inside: output, withoutFilter }));`;
}

/** An ELF file that makes the 32-bit call getpid, and exits with the error number of its result. */
function programOf32BitCall(): Uint8Array {
  const code = Buffer.from("b814000000cd8089c7f7dfb83c0000000f05", "hex");
  const bytes = Buffer.alloc(120 + code.length);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  bytes.writeUInt16LE(2, 16);
  bytes.writeUInt16LE(62, 18);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(0x40_0078n, 24);
  bytes.writeBigUInt64LE(64n, 32);
  for (const [at, value] of [64, 56, 1].entries()) bytes.writeUInt16LE(value, 52 + 2 * at);
  bytes.writeUInt32LE(1, 64);
  bytes.writeUInt32LE(5, 68);
  for (const at of [80, 88]) bytes.writeBigUInt64LE(0x40_0000n, at);
  for (const at of [96, 104]) bytes.writeBigUInt64LE(BigInt(bytes.length), at);
  bytes.writeBigUInt64LE(0x1000n, 112);
  bytes.set(code, 120);
  return bytes;
}

const threadsInC = `
#include <pthread.h>
#include <stdio.h>
static void *work(void *name) { puts(name); return 0; }
int main(void) { pthread_t t; return pthread_create(&t, 0, work, "a thread") || pthread_join(t, 0); }
`;

/** A program, a line that uses threads, processes, names of users or certificates, and a part of its output. */
const usualPrograms: readonly (readonly [program: string, line: string, output: string])[] = [
  ["node", 'node -e \'new (require("worker_threads").Worker)("console.log(1)", { eval: true })\'', "1\n"],
  [
    "node",
    'node -e \'console.log(require("os").userInfo().username, require("os").networkInterfaces().lo.length)\'',
    " ",
  ],
  ["npm", "npm --version", "."],
  [
    "git",
    "git init -q r && cd r && git -c user.name=a -c user.email=b commit -q --allow-empty -m made && git log",
    "made",
  ],
  [
    "python3",
    'python3 -c \'import subprocess, threading, ssl, pwd, socket; print(subprocess.run(["echo", "p"]).returncode)\'',
    "0",
  ],
  ["python3", "python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-7]))'", "[7]"],
  ["gcc", "gcc -pthread -o threads threads.c && ./threads", "a thread"],
  ["make", "printf 'a:\\n\\t@echo made\\n' > Makefile && make -j2", "made"],
  ["java", "java -version 2>&1", "version"],
  [
    "javac",
    "printf 'class A { public static void main(String[] a) { System.out.println(1 + 1); } }' > A.java && java A.java",
    "2",
  ],
  [
    "go",
    "printf 'package main\\nfunc main() { c := make(chan int); go func() { c <- 1 }(); println(<-c) }' > a.go && go run a.go",
    "1",
  ],
  ["fc-list", "fc-list | wc -l", "\n"],
  ["tar", "tar czf a.tgz threads.c && tar tzf a.tgz", "threads.c"],
  ["timeout", "timeout 5 echo in time", "in time"],
  ["id", "id -un; getent hosts localhost", "localhost"],
];
