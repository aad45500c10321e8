import type { Programs } from "../programs.ts";
import type { Architecture } from "./call-table.ts";

/**
 * A step before a command starts: joining a control group, checking that the parent lives, or one system call. Its
 * arguments are numbers, memory, or a filter program. `must` says what the call has to do.
 */
export type LaunchStep =
  | { kind: "join"; file: string }
  | { kind: "parent"; pid: number }
  | { kind: "call"; must: "succeed" | "fail" | "try"; number: number; args: readonly CallArgument[] };

export type CallArgument = number | { memory: Uint8Array } | { filter: Uint8Array };

/**
 * Runs steps and then a command in the same process, without native code of ours: an interpreter that can make any
 * system call replaces several programs of util-linux, for the price of one start.
 */
export interface Launcher {
  readonly program: "perl" | "python3";
  /** The arguments to put before a command. */
  argumentsFor(steps: readonly LaunchStep[]): string[];
}

/** The launchers of a machine, the fastest first. Nothing is known yet about what they can do. */
export function findLaunchers({ perl, python3 }: Programs): Launcher[] {
  const perlStart = [perl, "-e", perlScript, "--"];
  // Isolated, and without `site`, which takes longer than all the rest.
  const pythonStart = [python3, "-I", "-S", "-c", pythonScript];
  return [
    ...(perl === "" ? [] : [createLauncher("perl", perlStart)]),
    ...(python3 === "" ? [] : [createLauncher("python3", pythonStart)]),
  ];
}

function createLauncher(program: Launcher["program"], start: readonly string[]): Launcher {
  return { program, argumentsFor: (steps) => [...start, ...steps.map(wordOf), "--"] };
}

/** A step as one argument, for example `succeed,157,38,1,0,0,0`. Memory is hexadecimal, after `x` or `f`. */
function wordOf(step: LaunchStep): string {
  switch (step.kind) {
    case "join":
      return `join,${step.file}`;
    case "parent":
      return `parent,${step.pid}`;
    case "call":
      return [step.must, step.number, ...step.args.map(argumentWord)].join(",");
  }
}

function argumentWord(argument: CallArgument): string {
  if (typeof argument === "number") return String(argument);
  return "memory" in argument ? `x${hex(argument.memory)}` : `f${hex(argument.filter)}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** `P` packs a pointer: perl passes text as memory, and a filter as `struct sock_fprog`. */
const perlScript = `
while (($word = shift) ne "--") {
  ($do, $rest) = split /,/, $word, 2;
  if ($do eq "join") { open(F, ">", $rest) && syswrite(F, "0") && close(F) or die "$rest: $!\\n"; next }
  if ($do eq "parent") { getppid() == $rest or exit 125; next }
  ($number, @args) = map {
    /^x(.*)/ ? pack("H*", $1) : /^f(.*)/ ? pack("S x6 P", length($1) / 16, $kept = pack("H*", $1)) : 0 + $_
  } split /,/, $rest;
  $result = syscall($number, @args);
  if ($do ne "try" && ($result == -1) == ($do eq "succeed")) { print STDERR "system call $number: $!\\n"; exit 125 }
}
exec { $ARGV[0] } @ARGV;
print STDERR "$ARGV[0]: $!\\n"; exit 127`;

const pythonScript = `
import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
words = sys.argv[1:]
def read(word):
    if word[0] == "x": return ctypes.create_string_buffer(bytes.fromhex(word[1:]))
    if word[0] != "f": return ctypes.c_long(int(word))
    code = bytes.fromhex(word[1:])
    kept.append(ctypes.create_string_buffer(code))
    head = (len(code) // 8).to_bytes(8, "little") + ctypes.addressof(kept[-1]).to_bytes(8, "little")
    return ctypes.create_string_buffer(head)
kept = []
while True:
    do, _, rest = words.pop(0).partition(",")
    if do == "--": break
    if do == "join":
        with open(rest, "w") as file: file.write("0")
    elif do == "parent":
        if os.getppid() != int(rest): sys.exit(125)
    else:
        result = call(*[read(word) for word in rest.split(",")])
        if do != "try" and (result == -1) == (do == "succeed"):
            sys.exit("system call %s: %s" % (rest[:20], os.strerror(ctypes.get_errno())))
os.execvp(words[0], words)`;

/** The numbers of the calls that launchers make themselves. */
const ownCalls = {
  x86_64: {
    ...{ prctl: 157, capset: 126, seccomp: 317, keyctl: 250, prlimit64: 302, personality: 135 },
    ...{ mount: 165, umount2: 166, pivot_root: 155, chdir: 80, symlinkat: 266, unlinkat: 263 },
  },
  aarch64: {
    ...{ prctl: 167, capset: 91, seccomp: 277, keyctl: 219, prlimit64: 261, personality: 92 },
    ...{ mount: 40, umount2: 39, pivot_root: 41, chdir: 49, symlinkat: 36, unlinkat: 35 },
  },
} as const satisfies Record<Architecture, Record<string, number>>;

/** Means the working folder in place of a descriptor. */
const workingFolder = -100;

/** The steps of launchers on a processor. */
export type LaunchSteps = ReturnType<typeof launchStepsOf>;

/** The steps of launchers, in the numbers of a processor. */
export function launchStepsOf(architecture: Architecture) {
  const numbers = ownCalls[architecture];
  const call = (
    name: keyof typeof numbers,
    args: readonly CallArgument[],
    must: "succeed" | "fail" | "try" = "succeed",
  ): LaunchStep => ({ kind: "call", must, number: numbers[name], args });
  const words = (...values: readonly number[]): CallArgument => ({
    memory: new Uint8Array(new Uint32Array(values).buffer),
  });
  const text = (value: string): CallArgument => ({ memory: Buffer.from(`${value}\0`) });
  const sixtyFour = (value: number): CallArgument => ({
    memory: new Uint8Array(new BigUint64Array([BigInt(value), BigInt(value)]).buffer),
  });
  return {
    /** The process dies with this one. A parent that died before the request would go unnoticed. */
    dieWithParent: (pid: number): LaunchStep[] => [call("prctl", [1, 9]), { kind: "parent", pid }],
    /**
     * A new, empty session keyring: the command does not have the keys of this process, also if the filter has a hole. A
     * container that refuses all keyring calls, or a used-up quota, does not stop the command.
     */
    newKeyring: (): LaunchStep => call("keyctl", [1, 0], "try"),
    /** Both limits of a resource, by its number in the kernel. */
    limit: (resource: number, value: number): LaunchStep => call("prlimit64", [0, resource, sixtyFour(value), 0]),
    /** No rights now, and none from a program with more rights. */
    dropRights: (lastRight: number): LaunchStep[] => [
      ...Array.from({ length: lastRight + 1 }, (_, right) => call("prctl", [24, right])),
      call("prctl", [47, 4, 0, 0, 0]),
      call("capset", [words(0x2008_0522, 0), words(0, 0, 0, 0, 0, 0)]),
      call("prctl", [38, 1, 0, 0, 0]),
    ],
    link: (target: string, path: string): LaunchStep => call("symlinkat", [text(target), workingFolder, text(path)]),
    removeFile: (path: string): LaunchStep => call("unlinkat", [workingFolder, text(path), 0]),
    /** Remounts an empty file system: read-only, without programs of other users and devices. */
    remountReadOnly: (path: string): LaunchStep => call("mount", [0, text(path), 0, 0x20 | 0x1 | 0x2 | 0x4, 0]),
    /**
     * The old root is mounted on top of the new one at first. Unmounting it removes all mounts below it too.
     */
    changeRoot: (root: string): LaunchStep[] => [
      call("chdir", [text(root)]),
      call("pivot_root", [text("."), text(".")]),
      call("umount2", [text("."), 2]),
    ],
    changeFolder: (path: string): LaunchStep => call("chdir", [text(path)]),
    filter: (program: Uint8Array): LaunchStep => call("seccomp", [1, 0, { filter: program }]),
    /** A harmless call that no machine refuses, and the filter does: an old layout of addresses. */
    checkFilter: (): LaunchStep => call("personality", [0x0020_0000], "fail"),
  };
}
