import { z } from "zod";
import type { Risk } from "../protocol/agent.ts";
import { GrantLayer } from "../protocol/request.ts";
import { durationSchema } from "../text/duration.ts";

/** The decision about calls of a risk: run, ask a person first, or refuse. */
export const riskDecisions = ["allow", "ask", "deny"] as const;
export type RiskDecision = (typeof riskDecisions)[number];
export type RiskPolicy = Readonly<Record<Risk, RiskDecision>>;

export const sandboxModes = ["auto", "required", "off"] as const;

/** Access and resources of agents' commands. */
export const SandboxPolicy = z
  .strictObject({
    /** `auto`: the best available sandbox. `required`: refuse commands if none contains them. `off`: no sandbox. */
    mode: z.enum(sandboxModes).default("auto"),
    network: z.boolean().default(false),
    /** Additional folders that commands may read. */
    readable: z.array(z.string().startsWith("/")).default([]),
    memoryMb: z.int().min(64).default(4_096),
    processes: z.int().min(16).default(512),
  })
  .prefault({});
export type SandboxPolicy = z.infer<typeof SandboxPolicy>;

/** Hosts that web tools may access. */
export const WebPolicy = z
  .strictObject({
    /** Hosts that are allowed despite a private address (`wiki.example.org`, `127.0.0.1:8080`). */
    privateHosts: z.array(z.string().min(1)).default([]),
    deny: z.array(z.string().min(1)).default([]),
    /** Hosts whose pages are not untrusted, and to which a run may send private data (`wiki.example.org`). */
    trustedHosts: z.array(z.string().min(1)).default([]),
  })
  .prefault({});
export type WebPolicy = z.infer<typeof WebPolicy>;

/** Free space that stays on this machine's volumes, and the space that one session may use. */
export const DiskPolicy = z
  .strictObject({
    /**
     * Below this free space on the volume of the home or of a workspace, no call that may write starts. 0: never.
     * Null: 512 MB, or a twentieth of a smaller volume.
     */
    freeMb: z.int().min(0).nullable().default(null),
    /** Space that the calls of one session may add on this machine. */
    sessionMb: z.int().min(1).default(10_240),
  })
  .prefault({});
export type DiskPolicy = z.infer<typeof DiskPolicy>;

/** Rules for the effects of commands. */
export const CommandPolicy = z
  .strictObject({
    /** A command that deletes or overwrites files that git does not have. */
    loss: z.enum(riskDecisions).default("ask"),
  })
  .prefault({});
export type CommandPolicy = z.infer<typeof CommandPolicy>;

/** Limits of the copies of files that commands may change, for each workspace. */
export const SavedFilesPolicy = z
  .strictObject({
    /** Size of the largest file that is kept. */
    fileMb: z.int().min(0).default(8),
    /** Size of all kept files together. */
    totalMb: z.int().min(0).default(256),
  })
  .prefault({});
export type SavedFilesPolicy = z.infer<typeof SavedFilesPolicy>;

export const noHostDecisions = ["fail", "queue"] as const;

/** Handling of runs that no live host can take. */
export const DelegationPolicy = z
  .strictObject({
    /** `fail`: the run fails at once. `queue`: it waits for a host. */
    noHost: z.enum(noHostDecisions).default("fail"),
    /** A run fails after this time if no live host has its locality. */
    workspaceLostMs: durationSchema(z.int().min(1_000)).default(600_000),
  })
  .prefault({});
export type DelegationPolicy = z.infer<typeof DelegationPolicy>;

/** The rules of a machine's owner. `layer` is the first layer of every session, and every call is checked as well. */
export interface Policy {
  readonly layer: GrantLayer;
  readonly risk: RiskPolicy;
  /** Calls that a person has to allow at any risk: tools, groups, prefixes, or patterns of commands. @default none */
  readonly ask?: readonly string[];
  /** @default a person is asked before a command deletes or overwrites what git does not have */
  readonly commands?: CommandPolicy;
  /** Whether results of read calls are cached for all agents of a session, until one of them changes something. */
  readonly cacheReads: boolean;
  readonly sandbox: SandboxPolicy;
  /** @default 512 MB stay free, and a session may add 10 GB */
  readonly disk?: DiskPolicy | undefined;
  readonly web: WebPolicy;
  readonly delegation: DelegationPolicy;
  /** Limits of what is kept of files that commands may change. @default 8 MiB a file, 256 MiB a workspace */
  readonly savedFiles?: SavedFilesPolicy;
  /** Patterns of files with private data, besides those whose name says so, such as `.env`. */
  readonly privateFiles: readonly string[];
}

/** The policy without a policy file: everything can be granted, and calls of high risk need approval. */
export const defaultPolicy: Policy = {
  layer: GrantLayer.parse({ from: "policy", kind: "policy" }),
  risk: { low: "allow", medium: "allow", high: "ask" },
  commands: CommandPolicy.parse(undefined),
  cacheReads: false,
  sandbox: SandboxPolicy.parse(undefined),
  disk: DiskPolicy.parse(undefined),
  web: WebPolicy.parse(undefined),
  delegation: DelegationPolicy.parse(undefined),
  savedFiles: SavedFilesPolicy.parse(undefined),
  privateFiles: [],
};
