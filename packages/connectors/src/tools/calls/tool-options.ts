import { setTimeout as delay } from "node:timers/promises";
import type { Clock, Logger, ToolContext } from "@troupe/core";
import { silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import type { Connectors } from "../../ports/connectors.ts";

/** The domain of a tool. It is also the group of the tool, which agents and policies can name. */
export type OfficeDomain = "email" | "calendar" | "contacts" | "slack";

/** Options of `createOfficeTools`. */
export interface OfficeToolOptions {
  /** The connectors of a call. It is called for each call, so it keeps open connectors and returns them again. */
  connectors(context: ToolContext): Promise<Connectors>;
  /**
   * Mail domains of the user's organization. Mail and invitations to other domains have high risk.
   *
   * @default the domain of the account's address; none if many organizations share it, such as gmail.com
   */
  ownDomains?: readonly string[] | null;
  /** @default systemClock() */
  clock?: Pick<Clock, "now" | "monotonicMs">;
  /** Waits before another try. It rejects when the signal is aborted. @default a timer */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Gets one line for each call: its domain, tool, account, duration, tries and type of error. @default no log */
  logger?: Pick<Logger, "info" | "warn">;
}

/** The options with their defaults. */
export type OfficeToolDeps = Required<OfficeToolOptions>;

export function withDefaults(options: OfficeToolOptions): OfficeToolDeps {
  return {
    ownDomains: null,
    clock: systemClock(),
    wait: async (ms, signal) => {
      await delay(ms, undefined, { signal });
    },
    logger: silentLogger,
    ...options,
  };
}
