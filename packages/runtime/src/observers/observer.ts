import type { Entry, Logger, RunRequest, ToolCall } from "@troupe/core";
import { type ObserverName, type ObserverParams, type ObserverSpec, observerParams } from "@troupe/core/internal";
import { enrichCorpus } from "./enrich-corpus.ts";
import { saveSearchResults } from "./save-search-results.ts";
import { saveWorkbenchActivity } from "./save-workbench-activity.ts";

/** A durable outcome of a call, with the arguments of the call. */
export interface ObservedCall {
  /** Names the call; the same for every try. Work that is keyed by it happens once, also after a kill. */
  key: string;
  tool: string;
  args: ToolCall["args"];
  outcome: Extract<Entry, { kind: "tool.finished" }>["outcome"];
  /** Wall clock of the outcome. */
  at: number;
}

/** Reads and writes files of a workspace, under the rules that hold for tools. */
export interface ObserverFiles {
  /** Null if there is no such file. */
  read(workspace: string, path: string): Promise<string | null>;
  /** Replaces a file whose content is still `before`. Returns false if it has changed meanwhile. */
  replace(workspace: string, path: string, text: string, before: string | null): Promise<boolean>;
}

export interface ObserverScope {
  workspace: string;
  request: Pick<RunRequest, "session" | "run" | "agent">;
  /** Whether words of the request make a delegation mandatory. */
  isDelegating: boolean;
  files: ObserverFiles;
  logger: Logger;
}

/**
 * A program that sees the outcomes of a run's calls. It works beside the run: the run neither waits for it nor fails with it.
 * It sees a call again after a restart of the host, so its work has to be idempotent by the call's key.
 *
 * @example
 * const countCalls: Observer = async ({ tool }, { logger }) => logger.info({ tool }, "a call ended");
 * const observers = { ...builtinObservers, "count-calls": countCalls };
 */
export type Observer = (call: ObservedCall, scope: ObserverScope & Pick<ObserverSpec, "params">) => Promise<void>;

export type Observers = Readonly<Record<string, Observer>>;

/** An observer whose params are parsed. */
export type BuiltinObserver<N extends ObserverName> = (
  call: ObservedCall,
  scope: ObserverScope & { params: ObserverParams<N> },
) => Promise<void>;

const builtins: { readonly [N in ObserverName]: BuiltinObserver<N> } = {
  "save-search-results": saveSearchResults,
  "save-workbench-activity": saveWorkbenchActivity,
  "enrich-corpus": enrichCorpus,
};

/** The observers that are part of the runtime. */
export const builtinObservers: Observers = Object.fromEntries(
  Object.entries(builtins).map(([name, observe]) => [name, withParams(name as ObserverName, observe as Observer)]),
);

function withParams(name: ObserverName, observe: Observer): Observer {
  return async (call, { params, ...scope }) => {
    const parsed = observerParams[name].parse(params);
    await observe(call, { ...scope, params: parsed as ObserverSpec["params"] });
  };
}
