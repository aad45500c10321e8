import { inject, vi } from "vitest";

// `vi.waitFor` has no setting for its timeout.

declare module "vitest" {
  interface ProvidedContext {
    conditionTimeoutMs: number;
  }
}

const { waitFor } = vi;
vi.waitFor = (check, options) => waitFor(check, options ?? { timeout: inject("conditionTimeoutMs") });
