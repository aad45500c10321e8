/** One thing that `troupe setup` looked for. */
export interface SetupFinding {
  kind: "configuration" | "provider" | "nats" | "agents";
  name: string;
  /** `works` and `fails`: it was tested. `absent`: it was looked for and does not exist. */
  status: "works" | "fails" | "absent";
  detail: string;
  /** The next step; null if there is none. */
  fix: string | null;
  /** The model of a provider that was tested. Null for all other findings. */
  model: string | null;
}

/** A finding without a fix and without a model, unless they are given. */
export function finding(
  kind: SetupFinding["kind"],
  name: string,
  status: SetupFinding["status"],
  facts: { detail: string; fix?: string | null; model?: string | null },
): SetupFinding {
  return { kind, name, status, fix: null, model: null, ...facts };
}
