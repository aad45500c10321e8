import { useState } from "react";
import { type ApiProblem, problemOf } from "./api.ts";

/** Something that is asked of the daemon: whether it is under way, and what went wrong. */
export interface Action<Name extends string> {
  /** What is under way. */
  busy: Name | null;
  problem: ApiProblem | null;
  /** Asks; resolves with the answer, or with `null` when it failed or another one is under way. */
  start<T>(name: Name, ask: () => Promise<T>): Promise<T | null>;
}

/** One request at a time, with its progress and its failure to show. */
export function useAction<Name extends string = string>(): Action<Name> {
  const [busy, setBusy] = useState<Name | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  return {
    busy,
    problem,
    async start(name, ask) {
      if (busy !== null) return null;
      setBusy(name);
      setProblem(null);
      try {
        return await ask();
      } catch (thrown) {
        setProblem(problemOf(thrown));
        return null;
      } finally {
        setBusy(null);
      }
    },
  };
}
