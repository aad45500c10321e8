import { compliancePrefix } from "@troupe/core/internal";
import type { BuiltinVerifier } from "./verifier.ts";
import { existsInWorkspace } from "./workspace-file.ts";

/**
 * Checks that a run that wrote a report has saved its corpus. It applies only to tasks whose task or result has one of the
 * words.
 */
export const reportCorpus: BuiltinVerifier<"report-corpus"> = async ({ response, workspace, task, note, params }) => {
  const { path, words } = params;
  const text = `${task}\n${response.summary}\n${response.details}`.toLowerCase();
  if (!words.some((word) => text.includes(word.toLowerCase()))) {
    note?.({ applies: false });
    return [];
  }
  if (await existsInWorkspace(workspace, path)) return [];
  note?.({ missingFile: path });
  return [
    `${compliancePrefix}a report was returned, but there is no ${path}. The articles of a report must be ` +
      "saved before it is written: call save_corpus, read it back, and write the report from it.",
  ];
};
