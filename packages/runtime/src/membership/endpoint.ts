import type { Clock } from "@troupe/core";

/** How often something was asked of a host by one kind of message, and what came of it. */
export interface EndpointUse {
  name: string;
  subject: string;
  requests: number;
  errors: number;
  /** Empty where there was none. */
  lastError: string;
  /** Time that all requests together have taken. */
  busyMs: number;
}

export interface Endpoint {
  readonly use: Readonly<EndpointUse>;
  /** Does what was asked, and counts it. What it throws is counted and goes on. */
  handle(act: () => void): void;
}

export function createEndpoint(name: string, subject: string, clock: Pick<Clock, "monotonicMs">): Endpoint {
  const use: EndpointUse = { name, subject, requests: 0, errors: 0, lastError: "", busyMs: 0 };
  return {
    use,
    handle(act) {
      const beganAtMs = clock.monotonicMs();
      use.requests += 1;
      try {
        act();
      } catch (error) {
        use.errors += 1;
        use.lastError = error instanceof Error ? error.message : String(error);
        throw error;
      } finally {
        use.busyMs += clock.monotonicMs() - beganAtMs;
      }
    },
  };
}
