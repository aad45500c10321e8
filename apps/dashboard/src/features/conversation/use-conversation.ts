import type { RunRow } from "@troupe/core";
import type { ConversationItem } from "@troupe/core/internal";
import { useEffect, useRef, useState } from "react";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";

/** A longer conversation is read with the command line. */
const itemsMax = 2_000;

export interface LoadedConversation {
  items: readonly ConversationItem[];
  isLoading: boolean;
  /** True if later parts are left out. */
  isCut: boolean;
  problem: ApiProblem | null;
}

/** Loads the conversation of a run page by page, and its new parts whenever the row of the run changes. */
export function useConversation({ run, lastEventAt, status }: RunRow): LoadedConversation {
  const [items, setItems] = useState<readonly ConversationItem[]>([]);
  const [isLoading, setLoading] = useState(true);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  // One load at a time, so that no part is read twice.
  const progress = useRef({ next: 0, count: 0, loading: Promise.resolve() });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each event of the run can bring new parts
  useEffect(() => {
    let isCurrent = true;
    const state = progress.current;
    const load = async (): Promise<void> => {
      for (let more = true; more && isCurrent && state.count < itemsMax; ) {
        const page = await api.conversation(run, state.next);
        if (!isCurrent) return;
        state.next = page.next;
        state.count += page.items.length;
        more = page.more;
        setItems((before) => [...before, ...page.items]);
      }
    };
    const finish = (found: ApiProblem | null): void => {
      if (!isCurrent) return;
      setProblem(found);
      setLoading(false);
    };
    state.loading = state.loading.then(load).then(
      () => finish(null),
      (thrown) => finish(problemOf(thrown)),
    );
    return () => {
      isCurrent = false;
    };
  }, [run, lastEventAt, status]);
  return { items, isLoading, isCut: items.length >= itemsMax, problem };
}
