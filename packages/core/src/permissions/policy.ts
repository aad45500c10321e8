import { z } from "zod";
import type { Risk } from "../protocol/agent.ts";
import { GrantLayer } from "../protocol/request.ts";

/** What happens to a call of some risk: it is run, a person is asked first, or it is refused. */
export const riskDecisions = ["allow", "ask", "deny"] as const;
export type RiskDecision = (typeof riskDecisions)[number];
export type RiskPolicy = Readonly<Record<Risk, RiskDecision>>;

export const sandboxModes = ["auto", "required", "off"] as const;

/** What commands of agents may reach and use. */
export const SandboxPolicy = z
  .strictObject({
    /** `auto`: the best that this machine has. `required`: no command without one that contains it. `off`: none. */
    mode: z.enum(sandboxModes).default("auto"),
    network: z.boolean().default(false),
    /** Folders beside the workspace and the system's own that commands may read. */
    readable: z.array(z.string().startsWith("/")).default([]),
    memoryMb: z.int().min(64).default(4_096),
    processes: z.int().min(16).default(512),
  })
  .prefault({});
export type SandboxPolicy = z.infer<typeof SandboxPolicy>;

/** Where web tools may go. */
export const WebPolicy = z
  .strictObject({
    /** Hosts (`wiki.example.org`, `127.0.0.1:8080`) that may be asked although their address is not public. */
    privateHosts: z.array(z.string().min(1)).default([]),
    deny: z.array(z.string().min(1)).default([]),
  })
  .prefault({});
export type WebPolicy = z.infer<typeof WebPolicy>;

export const noHostDecisions = ["fail", "queue"] as const;

/** What becomes of runs that nobody who lives can take. */
export const DelegationPolicy = z
  .strictObject({
    /** `fail`: whoever asks for it is told at once. `queue`: it waits for a host. */
    noHost: z.enum(noHostDecisions).default("fail"),
    /** A run whose files are where no host lives is given up after so long. */
    workspaceLostMs: z.int().min(1_000).default(600_000),
  })
  .prefault({});
export type DelegationPolicy = z.infer<typeof DelegationPolicy>;

/** What the owner of a machine lets happen on it: the first layer of every session, and the last word at every call. */
export interface Policy {
  readonly layer: GrantLayer;
  readonly risk: RiskPolicy;
  /** Whether what agents of a session have read is kept for the others of it, until one of them changes something. */
  readonly cacheReads: boolean;
  readonly sandbox: SandboxPolicy;
  readonly web: WebPolicy;
  readonly delegation: DelegationPolicy;
}

/** Where nobody has said anything: everything may be granted, and calls of high risk are asked about. */
export const defaultPolicy: Policy = {
  layer: GrantLayer.parse({ from: "policy", kind: "policy" }),
  risk: { low: "allow", medium: "allow", high: "ask" },
  cacheReads: false,
  sandbox: SandboxPolicy.parse(undefined),
  web: WebPolicy.parse(undefined),
  delegation: DelegationPolicy.parse(undefined),
};
