import { defaultPolicy, RunFailure } from "@troupe/core";
import type { SandboxPolicy } from "@troupe/core/internal";
import { bubblewrapLaunch, hasDescriptorBinds } from "./backends/bubblewrap.ts";
import { findLoopbackCommand, readMountFlags, unshareLaunch } from "./backends/namespace-launch.ts";
import { createProcessGroupRun } from "./backends/process-group.ts";
import { createNamespaceRun, type NamespaceRunOptions, type RenderLaunch } from "./backends/run-in-namespaces.ts";
import { confineBySeatbelt } from "./backends/seatbelt.ts";
import { chooseResourceLimits, type ResourceLimits } from "./processes/resource-limits.ts";
import { findPrograms, type Programs } from "./programs.ts";
import { createRecent } from "./recent.ts";
import { type Probed, probeOnce } from "./remembered-probes.ts";
import type { Sandbox } from "./sandbox.ts";
import { describeGuard, type KernelGuard, kernelGuards, probeCommand } from "./system-calls/kernel-guard.ts";

export interface CreateSandboxOptions {
  /** @default the best sandbox of the machine, without network */
  policy?: SandboxPolicy;
  /** The largest file that a command may write. @default 16 GiB */
  fileBytesMax?: number | undefined;
  /** Folders that no command may see, such as those with keys and journals. */
  hidden?: readonly string[];
  /** The machine's settings, of which commands see an allow-list. @default `/etc` */
  etc?: string;
  /**
   * Keeps protected files that appeared in a workspace while a command ran and were taken out of it afterwards: a person
   * may have made them. @default they are removed
   */
  removedFolder?: string | null;
  /** Search path for programs, also for the programs that build the sandbox. @default this process's PATH */
  path?: string;
}

interface BackendOptions extends Required<Omit<CreateSandboxOptions, "fileBytesMax">> {
  programs: Programs;
  limits: ResourceLimits;
  /** From the best to the worst. */
  guards: readonly KernelGuard[];
}

/** The guard of commands, and whether bubblewrap forbids them to create namespaces. */
interface ProbedGuard {
  guard: KernelGuard;
  lockNamespaces?: boolean;
}

/** Why this machine cannot use a backend. */
interface Unavailable {
  reason: string;
}

/**
 * Creates the best sandbox that this machine has and its policy allows. Each backend has to run a test command first, or to
 * have run one in this process within the last minute.
 *
 * @example
 * const sandbox = await createSandbox();
 * if (!sandbox.contains) console.warn(sandbox.detail, sandbox.fix);
 */
export async function createSandbox(options: CreateSandboxOptions = {}): Promise<Sandbox> {
  const { policy = defaultPolicy.sandbox, hidden = [], etc = "/etc", path = process.env.PATH ?? "" } = options;
  const [programs, limits] = await Promise.all([
    findPrograms(path),
    chooseResourceLimits(policy, options.fileBytesMax),
  ]);
  const backendOptions: BackendOptions = {
    policy,
    hidden,
    etc,
    path,
    removedFolder: options.removedFolder ?? null,
    programs,
    limits,
    guards: await kernelGuards(programs),
  };
  if (policy.mode === "off") return processGroup(backendOptions, "policy.yaml says sandbox: {mode: off}", null);
  const reasons: string[] = [];
  for (const [kind, create] of Object.entries(process.platform === "darwin" ? macBackends : linuxBackends)) {
    const sandbox = await create(backendOptions);
    if (!("reason" in sandbox)) return sandbox;
    reasons.push(`${kind}: ${sandbox.reason}`);
  }
  const fix = "apt-get install bubblewrap (or dnf, pacman, apk), and allow this user to create namespaces";
  return policy.mode === "required"
    ? refuseAll(reasons.join("; "), fix)
    : processGroup(backendOptions, reasons.join("; "), fix);
}

type CreateBackend = (options: BackendOptions) => Promise<Sandbox | Unavailable>;

/** From the best to the worst. */
const linuxBackends: Record<string, CreateBackend> = { bubblewrap, namespaces };
const macBackends: Record<string, CreateBackend> = { seatbelt };

async function bubblewrap(options: BackendOptions): Promise<Sandbox | Unavailable> {
  const { programs, policy, limits } = options;
  if (programs.bwrap === "") return { reason: "bwrap is not installed" };
  const { scratchBytesMax, inNamespace } = limits;
  // By their names, another command could exchange the folders before they are mounted.
  const noBinds = await probeOnce({ facts: "--bind-fd", programs: [programs.bwrap] }, async () =>
    (await hasDescriptorBinds(programs.bwrap)) ? null : bindsMissing,
  );
  if (noBinds !== null) return { reason: noBinds };
  const launchOptions = { network: policy.network, scratchBytesMax, limits: inNamespace };
  const renderExchangeable = createRecent(exchangeableAgeMsMax, () => namespacesLaunch(options));
  return firstWorking(options.guards, (guard) =>
    firstWorking([true, false], (lockNamespaces) => {
      const renderLaunch = bubblewrapLaunch(programs, { ...launchOptions, lockNamespaces, guard });
      return tryBackend("bubblewrap", { ...options, renderLaunch, renderExchangeable, guard, lockNamespaces });
    }),
  );
}

const bindsMissing = "this bwrap has no --bind-fd; version 0.10, or a patched 0.8 of a distribution, has it";

/** The first choice that this machine can use, or the reason why it cannot use the last one. */
async function firstWorking<Choice, T extends object>(
  choices: readonly Choice[],
  attempt: (choice: Choice) => Promise<T | Unavailable>,
): Promise<T | Unavailable> {
  let last: T | Unavailable = { reason: "nothing was tried" };
  for (const choice of choices) {
    last = await attempt(choice);
    if (!("reason" in last)) break;
  }
  return last;
}

/**
 * Bwrap makes a missing mount point while it still sees the machine's files. If another command exchanges a folder on the
 * way for a link at that moment, an empty folder is made where the link leads. The mount script never makes one there.
 */
async function namespacesLaunch(options: BackendOptions): Promise<RenderLaunch | null> {
  const found = await firstWorking(guardsOfNamespaces(options), async (guard) => {
    const renderLaunch = await renderNamespaces(options, guard);
    if ("reason" in renderLaunch) return renderLaunch;
    const reason = await createNamespaceRun({ ...options, renderLaunch }).probe(probeCommand(guard));
    return reason === null ? { renderLaunch } : { reason };
  });
  return "reason" in found ? null : found.renderLaunch;
}

/** How long a found, or missing, mount script counts: its programs may be installed or removed. */
const exchangeableAgeMsMax = 60_000;

async function namespaces(options: BackendOptions): Promise<Sandbox | Unavailable> {
  return firstWorking(guardsOfNamespaces(options), async (guard) => {
    const renderLaunch = await renderNamespaces(options, guard);
    return "reason" in renderLaunch ? renderLaunch : tryBackend("namespaces", { ...options, renderLaunch, guard });
  });
}

/** Without a launcher, no program of util-linux loads the filter. */
function guardsOfNamespaces({ guards }: BackendOptions): KernelGuard[] {
  return guards.filter(({ filter, launcher }) => filter === null || launcher !== null);
}

async function renderNamespaces(
  { programs, policy, limits }: BackendOptions,
  guard: KernelGuard,
): Promise<RenderLaunch | Unavailable> {
  const missing = (["unshare", "setpriv", "mount", "umount", "pivot_root"] as const).filter(
    (name) => programs[name] === "",
  );
  if (missing.length > 0) return { reason: `${missing.join(", ")} not found` };
  return unshareLaunch(programs, {
    network: policy.network,
    scratchBytesMax: limits.scratchBytesMax,
    limits: limits.inNamespace,
    loopback: policy.network ? null : findLoopbackCommand(programs),
    readMountFlags,
    guard,
  });
}

/** The sandbox, if it could run a test command. */
async function tryBackend(
  kind: "bubblewrap" | "namespaces",
  options: BackendOptions & ProbedGuard & Pick<NamespaceRunOptions, "renderLaunch" | "renderExchangeable">,
): Promise<Sandbox | Unavailable> {
  const { run, probe } = createNamespaceRun(options);
  const reason = await probeOnce(probedBy(kind, options), () => probe(probeCommand(options.guard)));
  if (reason !== null) return { reason };
  const { text, fix } = describeGuard(options.guard);
  const detail = `commands see their workspace and the system's programs, ${networkText(options)}; ${text}; ${options.limits.detail}`;
  return { kind, contains: true, network: options.policy.network, detail, fix, run };
}

/** The settings and programs of the test command. The hidden folders are left out: they differ from troupe to troupe. */
function probedBy(
  kind: "bubblewrap" | "namespaces",
  { policy, limits, path, etc, programs, guard, lockNamespaces }: BackendOptions & ProbedGuard,
): Probed {
  const guardFacts = { hasFilter: guard.filter !== null, launcher: guard.launcher?.program, lockNamespaces };
  return { facts: { kind, policy, limits, path, etc, ...guardFacts }, programs: Object.values(programs) };
}

async function seatbelt(options: BackendOptions): Promise<Sandbox | Unavailable> {
  const program = options.programs["sandbox-exec"];
  if (program === "") return { reason: "sandbox-exec not found" };
  const confine = confineBySeatbelt({ ...options, program });
  const detail =
    `commands are confined by a sandbox-exec profile that is untested, ${networkText(options)}, and may leave processes ` +
    `behind; ${options.limits.detail}`;
  const fix = "run troupe on Linux, or in a container, for a tested sandbox";
  // Untested, so it does not count as containing: the policy treats its commands as high risk.
  const run = createProcessGroupRun({ ...options, confine });
  return { kind: "seatbelt", contains: false, network: options.policy.network, detail, fix, run };
}

function networkText({ policy }: BackendOptions): string {
  return policy.network ? "with the machine's network" : "without network";
}

function processGroup(options: BackendOptions, why: string, fix: string | null): Sandbox {
  return {
    kind: "process-group",
    contains: false,
    network: true,
    detail: `commands run unconfined, as this user (${why}); ${options.limits.detail}`,
    fix,
    run: createProcessGroupRun(options),
  };
}

function refuseAll(why: string, fix: string): Sandbox {
  return {
    kind: "none",
    contains: false,
    network: false,
    detail: `every command is refused: policy.yaml requires a sandbox, and this machine has none (${why})`,
    fix,
    run: () =>
      Promise.reject(
        new RunFailure({
          type: "permission",
          message: `this machine's policy requires a sandbox for commands, and this machine has none (${why}); its owner can install one (${fix})`,
          recoverable: false,
        }),
      ),
  };
}
