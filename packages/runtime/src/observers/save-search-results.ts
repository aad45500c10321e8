import type { BuiltinObserver } from "./observer.ts";
import { recordPath, writeOnce } from "./write-once.ts";

const searchTools: ReadonlySet<string> = new Set(["web_search"]);

/** Saves the result of each web search as a JSON file. */
export const saveSearchResults: BuiltinObserver<"save-search-results"> = async (call, scope) => {
  const { tool, args, outcome, at, key } = call;
  if (!searchTools.has(tool) || outcome.error !== null) return;
  if (scope.params.delegating && !scope.isDelegating) return;
  const record = {
    tool,
    call: key,
    agent: scope.request.agent,
    at: new Date(at).toISOString(),
    args,
    results: outcome.output,
  };
  await writeOnce(recordPath(scope.params.folder, call), record, scope);
};
