import type { AgentProblem } from "@troupe/core/internal";

/** The problems in agent files, each with its place and its fix. */
export function AgentProblems({ problems }: { problems: readonly AgentProblem[] }) {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return (
    <details className="agent-problems" data-testid="agent-problems">
      <summary>{count} in agent files</summary>
      <ul>
        {problems.map(({ path, line, column, message, fix }) => (
          <li key={`${path}:${line}:${column}:${message}`}>
            <code>
              {path.slice(path.lastIndexOf("/") + 1)}:{line}
            </code>{" "}
            {message}
            {fix !== null && <span className="fix"> Fix: {fix}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}
