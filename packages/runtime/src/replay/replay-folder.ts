import type { RunRequest } from "@troupe/core";
import { type RunFolder, sharedFolder } from "@troupe/core/internal";
import type { Recording } from "./recording.ts";

/**
 * The folder of a replayed run, which is never touched. The notes about files and the changes of calls in doubt come from
 * the recording; all other changes are in the recorded outcomes of the tools.
 */
export function createReplayFolder(recording: Recording, { run, workspace }: RunRequest): RunFolder {
  return {
    ...sharedFolder(workspace.path),
    async callStarted({ key }) {
      const started = recording
        .entriesOf(run)
        .findLast((entry) => entry.kind === "tool.started" && `${entry.step}/${entry.call}` === key);
      return (started?.kind === "tool.started" && started.unkept) || "";
    },
    async callInDoubt({ key }) {
      const answer = recording.answerTo(run, `tool/${key}`);
      if (answer?.kind !== "tool.finished") return null;
      const { output, changes } = answer.outcome;
      // The text of a call in doubt is one line, and the note follows it.
      const end = output.indexOf("\n");
      return end === -1 ? null : { changes, note: output.slice(end + 1) };
    },
  };
}
