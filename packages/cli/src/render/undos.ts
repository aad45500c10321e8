import type { UndoRow } from "@troupe/core/internal";
import type { Output } from "../terminal/terminal.ts";
import { cleanLine } from "./clean.ts";

/** An undo of a session: its author, and each file with the result. */
export function undoLines(
  { run, by, step, redoes, at, finishedAt, files }: UndoRow,
  out: Pick<Output, "colours">,
): string[] {
  const { colours } = out;
  const what = redoes === null ? "undo" : "redo";
  const part = step === null ? "" : ` from step ${step} on`;
  const head = `${what} of run ${run}${part} by ${cleanLine(by)}  ${at}`;
  const state = finishedAt === null ? colours.yellow(`  not finished; to finish it: troupe undo ${run}`) : "";
  return [
    "",
    colours.bold(head) + state,
    ...files.map(({ path, kind, state: done, reason }) => {
      const left = done === "left" ? colours.red(`  left: ${cleanLine(reason ?? "")}`) : "";
      return `  ${kind}  ${cleanLine(path)}${left}`;
    }),
  ];
}
