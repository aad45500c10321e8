import { useState } from "react";
import { type ApiProblem, problemOf } from "./api.ts";

/** The state of requests to the daemon. */
interface Action<Name extends string> {
  /** The request in progress. */
  busy: Name | null;
  problem: ApiProblem | null;
  /** Sends a request. Resolves with `null` if it fails or another one is in progress. */
  start<T>(name: Name, request: () => Promise<T>): Promise<T | null>;
}

/** Runs one request at a time and keeps its progress and its error. */
export function useAction<Name extends string = string>(): Action<Name> {
  const [busy, setBusy] = useState<Name | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  return {
    busy,
    problem,
    async start(name, request) {
      if (busy !== null) return null;
      setBusy(name);
      setProblem(null);
      try {
        return await request();
      } catch (thrown) {
        setProblem(problemOf(thrown));
        return null;
      } finally {
        setBusy(null);
      }
    },
  };
}
