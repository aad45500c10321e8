import type { ChangeRow, RunRow } from "@troupe/core";
import { useEffect, useState } from "react";
import { DiffView } from "../../components/diff-view.tsx";
import { LineList, PanelSection, ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { type ChangedFile, groupByFile } from "../../lib/diff.ts";
import { reveal } from "../../lib/format.ts";
import { UndoChanges } from "./undo-changes.tsx";

/** The changed files of a run with their diffs, and files of which only the name is known. */
export function Changes({ run }: { run: RunRow }) {
  const { rows, more, problem } = useChanges(run);
  const files = groupByFile(rows);
  const shownPaths = new Set(files.map(({ path }) => path));
  const others = run.filesModified.filter((path) => !shownPaths.has(path));
  return (
    <>
      {(files.length > 0 || problem) && (
        <PanelSection name="Changes">
          <ul className="changes" data-testid="changes">
            {files.map((file) => (
              <File key={file.path} file={file} />
            ))}
          </ul>
          {more && (
            <button type="button" className="link" onClick={more}>
              Show more changes
            </button>
          )}
          {problem && <ProblemNote problem={problem} />}
          <UndoChanges run={run} />
        </PanelSection>
      )}
      {others.length > 0 && (
        <PanelSection name={files.length > 0 ? "Other files" : "Files"}>
          <LineList lines={others} />
        </PanelSection>
      )}
    </>
  );
}

function File({ file }: { file: ChangedFile }) {
  const { path, kind, linesAdded, linesRemoved, runsLater, changes } = file;
  const [isOpen, setOpen] = useState(false);
  return (
    <li data-testid="changed-file" data-path={path}>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span className="agent-text change-path">{reveal(path)}</span>
          <span className="change-kind" data-kind={kind}>
            {kind}
          </span>
          {runsLater !== null && (
            <span className="change-kind" data-kind="runs-later" title={`It ${reveal(runsLater)}`}>
              runs later
            </span>
          )}
          <Counts linesAdded={linesAdded} linesRemoved={linesRemoved} />
        </summary>
        {isOpen && runsLater !== null && <p className="soft">This file {reveal(runsLater)}.</p>}
        {isOpen && changes.map((change) => <Change key={change.id} change={change} isOnly={changes.length === 1} />)}
      </details>
    </li>
  );
}

function Change({ change, isOnly }: { change: ChangeRow; isOnly: boolean }) {
  return (
    <div className="change">
      <p className="soft">
        {change.tool}, turn {change.step}
        {!isOnly && (
          <>
            {" "}
            <Counts linesAdded={change.linesAdded} linesRemoved={change.linesRemoved} />
          </>
        )}
      </p>
      <DiffView change={change} />
    </div>
  );
}

function Counts({ linesAdded, linesRemoved }: Pick<ChangeRow, "linesAdded" | "linesRemoved">) {
  return (
    <span className="change-counts figure">
      <span data-kind="added">+{linesAdded.toLocaleString("en-US")}</span>{" "}
      <span data-kind="removed">−{linesRemoved.toLocaleString("en-US")}</span>
    </span>
  );
}

interface ChangePages {
  rows: readonly ChangeRow[];
  /** Loads the next page; null on the last page. */
  more: (() => void) | null;
  problem: ApiProblem | null;
}

/** Loads the file changes of a run, and reloads them when its row changes. */
function useChanges({ run, filesModified, toolCalls, status }: RunRow): ChangePages {
  const [rows, setRows] = useState<readonly ChangeRow[]>([]);
  const [next, setNext] = useState<number | null>(null);
  const [pages, setPages] = useState(1);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const hasFiles = filesModified.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another change of the same file shows only in the tool calls or the status
  useEffect(() => {
    let isCurrent = true;
    const load = async (): Promise<void> => {
      const loaded: ChangeRow[] = [];
      let after: number | null = 0;
      for (let page = 0; page < pages && after !== null; page += 1) {
        const { changes, next: nextAfter }: Awaited<ReturnType<typeof api.changes>> = await api.changes(run, after);
        if (!isCurrent) return;
        loaded.push(...changes);
        after = nextAfter;
      }
      setRows(loaded);
      setNext(after);
      setProblem(null);
    };
    if (hasFiles) load().catch((thrown) => isCurrent && setProblem(problemOf(thrown)));
    return () => {
      isCurrent = false;
    };
  }, [run, hasFiles, filesModified.length, toolCalls, status, pages]);
  return { rows, more: next === null ? null : () => setPages((count) => count + 1), problem };
}
