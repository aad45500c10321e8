import type { ChangeRow } from "@troupe/core";
import { useMemo, useState } from "react";
import { type DiffLine, readDiff } from "../lib/diff.ts";
import { reveal } from "../lib/reveal.ts";

/** Lines that are put into the page at once, and how many more each time that is asked for. */
const linesShown = 200;
/** Of one line: minified files have but one. */
const lineCharactersMax = 2_000;

const signs = { added: "+", removed: "−", same: " ", place: "", note: "" } as const;

/** What a call did to a file. Said by signs and by colours; nothing in it hides, and nothing of it is markup. */
export function DiffView({ change }: { change: Pick<ChangeRow, "diff" | "cut" | "path"> }) {
  const { diff, cut, path } = change;
  const [most, setMost] = useState(linesShown);
  const lines = useMemo(() => readDiff(diff), [diff]);
  const rest = lines.length - most;
  if (lines.length === 0) {
    return <p className="soft">{cut ? "It is too large to be shown." : "No lines of text are different."}</p>;
  }
  return (
    <div className="diff" data-testid="diff">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to reach that */}
      <div className="diff-lines" role="group" aria-label={`Difference of ${reveal(path)}`} tabIndex={0}>
        {lines.slice(0, most).map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines never change, and many are alike
          <Line key={i} line={line} />
        ))}
      </div>
      {rest > 0 && (
        <button type="button" className="link" onClick={() => setMost(most + linesShown * 5)}>
          Show {Math.min(rest, linesShown * 5).toLocaleString("en-US")} of {rest.toLocaleString("en-US")} more lines
        </button>
      )}
      {cut && rest <= 0 && <p className="soft">Here it was cut: the record has only its beginning.</p>}
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
