import type { ApprovalRule } from "@troupe/core/internal";
import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";

export interface Rules {
  rules: readonly ApprovalRule[] | null;
  problem: ApiProblem | null;
  reload(): void;
}

/** The stored rules. No stream tells of them: they are loaded anew after each answer that may have made one. */
export function useRules(): Rules {
  const live = usePage((state) => state.connection === "live");
  const made = usePage((state) => (state.approvals ?? []).filter(({ scope }) => scope === "rule").length);
  const [found, setFound] = useState<Omit<Rules, "reload">>({ rules: null, problem: null });
  const asked = useRef(0);
  const reload = useCallback((): void => {
    asked.current += 1;
    const own = asked.current;
    api.rules().then(
      ({ rules }) => own === asked.current && setFound({ rules, problem: null }),
      (thrown) => own === asked.current && setFound(({ rules }) => ({ rules, problem: problemOf(thrown) })),
    );
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: loaded anew when the daemon is back, or a rule was made
  useEffect(() => {
    if (live) reload();
  }, [live, made, reload]);
  return { ...found, reload };
}
