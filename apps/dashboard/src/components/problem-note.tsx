import type { ApiProblem } from "../lib/api.ts";

/** What went wrong and the one next step. */
export function ProblemNote({ problem }: { problem: ApiProblem }) {
  return (
    <div className="problem" role="alert">
      <p>{problem.message}</p>
      {problem.fix && <p className="fix">{problem.fix}</p>}
    </div>
  );
}
