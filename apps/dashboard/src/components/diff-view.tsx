import type { ChangeRow } from "@troupe/core";
import { useMemo, useState } from "react";
import { type DiffLine, parseDiff } from "../lib/diff.ts";
import { reveal } from "../lib/format.ts";

/** Lines of a diff before "Show more lines". */
const linesShown = 200;
/** Characters of a line. A minified file can have one huge line. */
const lineCharactersMax = 2_000;

const signs = { added: "+", removed: "−", same: " ", hunk: "", note: "" } as const;

/** A diff with signs and colours. It renders the lines as text, with invisible characters made visible. */
export function DiffView({ change }: { change: Pick<ChangeRow, "diff" | "cut" | "path"> }) {
  const { diff, cut, path } = change;
  const [lineCount, setLineCount] = useState(linesShown);
  const lines = useMemo(() => parseDiff(diff), [diff]);
  const rest = lines.length - lineCount;
  if (lines.length === 0) {
    return <p className="soft">{cut ? "The diff is too large to show." : "No text lines have changed."}</p>;
  }
  return (
    <div className="diff" data-testid="diff">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, so the keyboard must reach it */}
      <div className="diff-lines" role="group" aria-label={`Diff of ${reveal(path)}`} tabIndex={0}>
        {lines.slice(0, lineCount).map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines never change, and many are equal
          <Line key={i} line={line} />
        ))}
      </div>
      {rest > 0 && (
        <button type="button" className="link" onClick={() => setLineCount(lineCount + linesShown * 5)}>
          Show {Math.min(rest, linesShown * 5).toLocaleString("en-US")} of {rest.toLocaleString("en-US")} more lines
        </button>
      )}
      {cut && rest <= 0 && <p className="soft">The record has only the beginning of this diff.</p>}
    </div>
  );
}

function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  const shown = text.length > lineCharactersMax ? `${text.slice(0, lineCharactersMax)}…` : text;
  return (
    <div className="diff-line" data-kind={kind}>
      <span className="diff-number" aria-hidden="true">
        {after ?? before}
      </span>
      <span className="diff-sign">{signs[kind]}</span>
      <code className="agent-text">{reveal(shown)}</code>
    </div>
  );
}
