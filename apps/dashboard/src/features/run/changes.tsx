import type { ChangeRow, RunRow } from "@troupe/core";
import { useState } from "react";
import { DiffView } from "../../components/diff-view.tsx";
import { Lines, Part } from "../../components/part.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { byFile, type ChangedFile } from "../../lib/diff.ts";
import { reveal } from "../../lib/reveal.ts";
import { useChanges } from "./use-changes.ts";

/** What a run has done to files: each with its lines, to be unfolded; and those of which only the names are known. */
export function Changes({ run }: { run: RunRow }) {
  const { rows, more, problem } = useChanges(run);
  const files = byFile(rows);
  const known = new Set(files.map(({ path }) => path));
  const others = run.filesModified.filter((path) => !known.has(path));
  return (
    <>
      {(files.length > 0 || problem) && (
        <Part name="Changes">
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
        </Part>
      )}
      {others.length > 0 && (
        <Part name={files.length > 0 ? "Other files" : "Files"}>
          <Lines lines={others} />
        </Part>
      )}
    </>
  );
}

function File({ file }: { file: ChangedFile }) {
  const { path, kind, linesAdded, linesRemoved, changes } = file;
  const [open, setOpen] = useState(false);
  return (
    <li data-testid="changed-file" data-path={path}>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span className="agent-text change-path">{reveal(path)}</span>
          <span className="change-kind" data-kind={kind}>
            {kind}
          </span>
          <Counts linesAdded={linesAdded} linesRemoved={linesRemoved} />
        </summary>
        {open && changes.map((change) => <Change key={change.id} change={change} alone={changes.length === 1} />)}
      </details>
    </li>
  );
}

function Change({ change, alone }: { change: ChangeRow; alone: boolean }) {
  return (
    <div className="change">
      <p className="soft">
        {change.tool}, turn {change.step}
        {!alone && (
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
