import { type Clock, type ModelProvider, RunFailure } from "@troupe/core";
import { createLazyProvider } from "./lazy-provider.ts";
import type { ProviderSettings } from "./settings.ts";

/**
 * The adapter of a provider's wire, which is loaded when it is first asked. It retries nothing: `createReliableProvider`
 * goes around it.
 *
 * @example
 * const provider = createProvider({ settings, clock: systemClock() });
 */
export function createProvider({ settings }: { settings: ProviderSettings; clock: Clock }): ModelProvider {
  return createLazyProvider(settings.id, async () => {
    throw new RunFailure({ type: "params", message: `nothing speaks ${settings.wire} yet`, recoverable: false });
  });
}
