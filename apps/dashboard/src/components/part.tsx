import type { ReactNode } from "react";

/** A titled part of a panel. */
export function Part({ name, tone, children }: { name: string; tone?: string; children: ReactNode }) {
  return (
    <section className="part" data-tone={tone}>
      <h3>{name}</h3>
      {children}
    </section>
  );
}

/** Lists shown; more are counted. */
const linesMax = 100;

export function Lines({ lines }: { lines: readonly string[] }) {
  const counted = [...new Set(lines)];
  return (
    <ul className="lines">
      {counted.slice(0, linesMax).map((line) => (
        <li key={line} className="agent-text">
          {line}
        </li>
      ))}
      {counted.length > linesMax && <li>and {counted.length - linesMax} more</li>}
    </ul>
  );
}
