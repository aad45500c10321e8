import type { BuiltinObserver } from "./observer.ts";
import { recordPath, writeOnce } from "./write-once.ts";

const workbenchTools: ReadonlySet<string> = new Set(["workbench_upload", "workbench_download"]);

/** Saves each transfer to and from the workbench as a JSON file, the failed ones too. */
export const saveWorkbenchActivity: BuiltinObserver<"save-workbench-activity"> = async (call, scope) => {
  const { tool, args, outcome, at, key } = call;
  if (!workbenchTools.has(tool)) return;
  const { output, error, artifacts } = outcome;
  const record = {
    ...{ tool, call: key, agent: scope.request.agent, at: new Date(at).toISOString(), args },
    ...{ success: error === null, output, artifacts },
  };
  await writeOnce(recordPath(scope.params.folder, call), record, scope);
};
