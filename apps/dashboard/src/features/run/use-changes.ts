import type { ChangeRow, RunRow } from "@troupe/core";
import { useEffect, useState } from "react";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";

interface Changes {
  rows: readonly ChangeRow[];
  /** Loads the next page; null where there is none. */
  more: (() => void) | null;
  problem: ApiProblem | null;
}

/** What a run has done to files, loaded again when its row says that there is more. */
export function useChanges({ run, filesModified, toolCalls, status }: RunRow): Changes {
  const [rows, setRows] = useState<readonly ChangeRow[]>([]);
  const [next, setNext] = useState<number | null>(null);
  const [pages, setPages] = useState(1);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const isAnyFile = filesModified.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a file may be changed again, which only another call or the end shows
  useEffect(() => {
    let current = true;
    const load = async (): Promise<void> => {
      const all: ChangeRow[] = [];
      let after: number | null = 0;
      for (let page = 0; page < pages && after !== null; page += 1) {
        const { changes, next: following }: Awaited<ReturnType<typeof api.changes>> = await api.changes(run, after);
        if (!current) return;
        all.push(...changes);
        after = following;
      }
      setRows(all);
      setNext(after);
      setProblem(null);
    };
    if (isAnyFile) load().catch((thrown) => current && setProblem(problemOf(thrown)));
    return () => {
      current = false;
    };
  }, [run, isAnyFile, filesModified.length, toolCalls, status, pages]);
  return { rows, more: next === null ? null : () => setPages((count) => count + 1), problem };
}
