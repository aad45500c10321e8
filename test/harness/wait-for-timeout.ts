import { inject, vi } from "vitest";

// `vi.waitFor` and `vi.waitUntil` have no setting for their timeout.

declare module "vitest" {
  interface ProvidedContext {
    conditionTimeoutMs: number;
  }
}

const { waitFor, waitUntil } = vi;
vi.waitFor = (check, options) => waitFor(check, options ?? { timeout: inject("conditionTimeoutMs") });
vi.waitUntil = (check, options) => waitUntil(check, options ?? { timeout: inject("conditionTimeoutMs") });
