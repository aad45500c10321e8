import { defaultPolicy, RunFailure } from "@troupe/core";
import type { SandboxPolicy } from "@troupe/core/internal";
import { readRestrictions } from "./backends/mount-flags.ts";
import { quote } from "./backends/mount-script.ts";
import { type Enter, enterByBwrap, enterByUnshare } from "./backends/namespace-launch.ts";
import { createUnconfinedRun } from "./backends/process-group.ts";
import { createContainedRun } from "./backends/run-in-namespaces.ts";
import { confineBySeatbelt } from "./backends/seatbelt.ts";
import { capsOf, type MachineCaps } from "./processes/resource-limits.ts";
import { findPrograms, type Programs } from "./programs.ts";
import type { Sandbox } from "./sandbox.ts";

export interface CreateSandboxOptions {
  /** @default contained as well as can be, without network */
  policy?: SandboxPolicy;
  /** Folders that no command may see, whatever else it may read: those with keys and records. */
  hidden?: readonly string[];
  /** Where programs are looked for, those that make a sandbox included. @default this process's PATH */
  path?: string;
}

/** What a kind of sandbox is made of. */
interface Parts extends Required<CreateSandboxOptions> {
  programs: Programs;
  caps: MachineCaps;
}

/** Why a kind cannot be had here. */
interface Refusal {
  reason: string;
}

/**
 * The best sandbox that this machine has and its policy allows. What it says of itself it has tried.
 *
 * @example
 * const sandbox = await createSandbox();
 * if (!sandbox.contains) console.warn(sandbox.detail, sandbox.fix);
 */
export async function createSandbox(options: CreateSandboxOptions = {}): Promise<Sandbox> {
  const { policy = defaultPolicy.sandbox, hidden = [], path = process.env.PATH ?? "" } = options;
  const [programs, caps] = await Promise.all([findPrograms(path), capsOf(policy)]);
  const parts: Parts = { policy, hidden, path, programs, caps };
  if (policy.mode === "off") return processGroup(parts, "policy.yaml says sandbox: {mode: off}", null);
  const refusals: string[] = [];
  for (const [kind, attempt] of Object.entries(process.platform === "darwin" ? ofMac : ofLinux)) {
    const sandbox = await attempt(parts);
    if (!("reason" in sandbox)) return sandbox;
    refusals.push(`${kind}: ${sandbox.reason}`);
  }
  const fix = "apt-get install bubblewrap (or dnf, pacman, apk), and let this user make namespaces";
  return policy.mode === "required"
    ? refuseAll(refusals.join("; "), fix)
    : processGroup(parts, refusals.join("; "), fix);
}

type Attempt = (parts: Parts) => Promise<Sandbox | Refusal>;

const ofLinux: Record<string, Attempt> = { bubblewrap, namespaces };
const ofMac: Record<string, Attempt> = { seatbelt };

async function bubblewrap(parts: Parts): Promise<Sandbox | Refusal> {
  const { programs, policy, caps } = parts;
  if (programs.bwrap === "") return { reason: "bwrap is not installed" };
  const options = { network: policy.network, scratchBytesMax: caps.scratchBytesMax, limits: caps.inNamespace };
  for (const lockNamespaces of [true, false]) {
    const enter = enterByBwrap(programs, { ...options, lockNamespaces });
    const sandbox = await tryOut("bubblewrap", enter, parts);
    if (!("reason" in sandbox) || !lockNamespaces) return sandbox;
  }
  throw new Error("unreachable");
}

async function namespaces(parts: Parts): Promise<Sandbox | Refusal> {
  const { programs, policy, caps } = parts;
  const missing = (["unshare", "setpriv", "mount", "umount", "pivot_root"] as const).filter(
    (name) => programs[name] === "",
  );
  if (missing.length > 0) return { reason: `${missing.join(", ")} not found` };
  const enter = enterByUnshare(programs, {
    network: policy.network,
    scratchBytesMax: caps.scratchBytesMax,
    limits: caps.inNamespace,
    loopback: policy.network ? null : loopbackOf(programs),
    restrictionsOf: await readRestrictions(),
  });
  return tryOut("namespaces", enter, parts);
}

/** What makes a network of a command's own that reaches itself: tests have servers. Bubblewrap does it by itself. */
function loopbackOf({ ip, perl }: Programs): string | null {
  if (ip !== "") return `${quote(ip)} link set lo up`;
  if (perl === "") return null;
  // SIOCSIFFLAGS, with UP and RUNNING.
  const script = 'socket(S, 2, 2, 0); $request = pack("a16 s x22", "lo", 0x41); ioctl(S, 0x8914, $request)';
  return `${quote(perl)} -e ${quote(script)}`;
}

/** A sandbox that has run a command, or why it cannot. */
async function tryOut(kind: "bubblewrap" | "namespaces", enter: Enter, parts: Parts): Promise<Sandbox | Refusal> {
  const { policy, caps } = parts;
  const { run, probe } = createContainedRun({ ...parts, enter });
  const reason = await probe();
  if (reason !== null) return { reason };
  const network = policy.network ? "with the machine's network" : "without network";
  const detail = `commands see their workspace and the system's programs, ${network}; ${caps.detail}`;
  return { kind, contains: true, detail, fix: null, run };
}

async function seatbelt(parts: Parts): Promise<Sandbox | Refusal> {
  const { programs, policy, caps } = parts;
  const program = programs["sandbox-exec"];
  if (program === "") return { reason: "sandbox-exec not found" };
  const confine = confineBySeatbelt({ ...parts, program });
  const network = policy.network ? "with the machine's network" : "without network";
  const detail = `commands are kept by a profile that nobody has tried yet, ${network}, and may leave processes behind; ${caps.detail}`;
  const fix = "run troupe on a Linux, or in a container, for a sandbox that has been tried";
  // As long as it is untried, nothing relies on it.
  return { kind: "seatbelt", contains: false, detail, fix, run: createUnconfinedRun({ ...parts, confine }) };
}

function processGroup(parts: Parts, why: string, fix: string | null): Sandbox {
  return {
    kind: "process-group",
    contains: false,
    detail: `commands run unconfined, as this user (${why}); ${parts.caps.detail}`,
    fix,
    run: createUnconfinedRun(parts),
  };
}

function refuseAll(why: string, fix: string): Sandbox {
  return {
    kind: "none",
    contains: false,
    detail: `no command is run: policy.yaml requires a sandbox, and none can be had (${why})`,
    fix,
    run: () =>
      Promise.reject(
        new RunFailure({
          type: "permission",
          message: `this machine's policy requires a sandbox for commands, and none can be had (${why}); its owner can install one (${fix})`,
          recoverable: false,
        }),
      ),
  };
}
