import { type ReactNode, useState } from "react";
import type { ApiProblem } from "../lib/api.ts";

/** A section of a panel with a title. */
export function PanelSection({ name, tone, children }: { name: string; tone?: string; children: ReactNode }) {
  return (
    <section className="part" data-tone={tone}>
      <h3>{name}</h3>
      {children}
    </section>
  );
}

/** Further lines are only counted. */
const linesMax = 100;

export function LineList({ lines }: { lines: readonly string[] }) {
  const distinct = [...new Set(lines)];
  return (
    <ul className="lines">
      {distinct.slice(0, linesMax).map((line) => (
        <li key={line} className="agent-text">
          {line}
        </li>
      ))}
      {distinct.length > linesMax && <li>and {distinct.length - linesMax} more</li>}
    </ul>
  );
}

/**
 * Renders untrusted text as text, never as markup. It cuts a long text until the user asks for the rest, so that a huge
 * answer does not slow the page down.
 */
export function LongText({ text, charsMax = 1_200 }: { text: string; charsMax?: number }) {
  const [isExpanded, setExpanded] = useState(false);
  const isCut = !isExpanded && text.length > charsMax + 200;
  return (
    <>
      <p className="agent-text">{isCut ? `${text.slice(0, charsMax)}…` : text}</p>
      {isCut && (
        <button type="button" className="link" onClick={() => setExpanded(true)}>
          Show all {text.length.toLocaleString("en-US")} characters
        </button>
      )}
    </>
  );
}

/** An error and its fix. */
export function ProblemNote({ problem }: { problem: ApiProblem }) {
  return (
    <div className="problem" role="alert">
      <p>{problem.message}</p>
      {problem.fix && <p className="fix">{problem.fix}</p>}
    </div>
  );
}
