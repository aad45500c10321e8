import type { Clock } from "@troupe/core";
import type { ProviderSettings } from "../settings.ts";
import type { LocalModel, ServerKind } from "./local-model.ts";
import { probeLocalModel } from "./probe.ts";

/** What is known of a model, and behind which kind of server it is. */
export interface KnownWindow {
  kind: ServerKind;
  model: LocalModel;
}

export interface Windows {
  /** Never fails, and never takes long: null is what is not known. */
  of(model: string): Promise<KnownWindow | null>;
}

/** A model may be loaded anew, with another window. */
const keptMs = 60_000;
/** A server that did not answer may be starting. */
const keptUnknownMs = 5_000;

/** Remembers for a while what a server says of its models, so that it is asked once, however many agents want to know. */
export function createWindows(
  settings: Pick<ProviderSettings, "baseUrl" | "key">,
  { clock, fetch }: { clock: Clock; fetch: typeof globalThis.fetch },
): Windows {
  const known = new Map<string, { window: Promise<KnownWindow | null>; untilMs: number }>();
  return {
    async of(name) {
      const kept = known.get(name);
      if (kept && clock.monotonicMs() < kept.untilMs) return kept.window;
      const window = probeLocalModel(settings, name, { clock, fetch });
      const entry = { window, untilMs: Number.POSITIVE_INFINITY };
      known.set(name, entry);
      const found = await window;
      const isKnown = typeof found?.model.contextTokens === "number";
      entry.untilMs = clock.monotonicMs() + (isKnown ? keptMs : keptUnknownMs);
      return found;
    },
  };
}
