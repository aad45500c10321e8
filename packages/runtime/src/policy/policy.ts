import { GrantLayer, type Risk } from "@troupe/core";

/** What happens to a call of some risk: it is run, a person is asked first, or it is refused. */
export const riskDecisions = ["allow", "ask", "deny"] as const;
export type RiskDecision = (typeof riskDecisions)[number];
export type RiskPolicy = Readonly<Record<Risk, RiskDecision>>;

/** What the owner of a machine lets happen on it: the first layer of every session, and the last word at every call. */
export interface Policy {
  readonly layer: GrantLayer;
  readonly risk: RiskPolicy;
  /** Whether what agents of a session have read is kept for the others of it, until one of them changes something. */
  readonly cacheReads: boolean;
}

/** Where nobody has said anything: everything may be granted, and calls of high risk are asked about. */
export const defaultPolicy: Policy = {
  layer: GrantLayer.parse({ from: "policy", kind: "policy" }),
  risk: { low: "allow", medium: "allow", high: "ask" },
  cacheReads: false,
};
