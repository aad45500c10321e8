import type { RunRow } from "@troupe/core";
import { useEffect, useState } from "react";
import { LongText, PanelSection, ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";

/** Shows the context that the parent run passed: a part of its conversation, files, and results of earlier tasks. */
export function PassedContext({ run }: { run: RunRow }) {
  const { context, problem } = usePassedContext(run);
  if (context === null && problem === null) return null;
  return (
    <PanelSection name="Passed context">
      {context !== null && <LongText text={context} />}
      {problem && <ProblemNote problem={problem} />}
    </PanelSection>
  );
}

/** Loads the context from the first entry of the run, which never changes. */
function usePassedContext({ run, parentRun, host }: RunRow) {
  const [context, setContext] = useState<string | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const isOpenedChild = parentRun !== null && host !== null;
  useEffect(() => {
    let isCurrent = true;
    const load = async (): Promise<void> => {
      const { entries } = await api.firstEntry(run);
      const [opened] = entries;
      if (!opened) throw new Error("The passed context is too large for this page.");
      if (isCurrent && opened.kind === "run.opened") setContext(opened.request.context);
    };
    if (isOpenedChild) load().catch((thrown) => isCurrent && setProblem(problemOf(thrown)));
    return () => {
      isCurrent = false;
    };
  }, [run, isOpenedChild]);
  return { context, problem };
}
