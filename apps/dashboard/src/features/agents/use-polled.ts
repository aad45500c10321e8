import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiProblem, problemOf } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";

/** A changed agent file is on the page after this time. The daemon reads only changed files again. */
const reloadMs = 700;

export interface Polled<T> {
  value: T | null;
  problem: ApiProblem | null;
  reload(): void;
}

/** Loads a value, and again while a person sees the page. The value stays the same object until it changes. */
export function usePolled<T>(load: () => Promise<T>): Polled<T> {
  const live = usePage((state) => state.connection === "live");
  const [state, setState] = useState<{ value: T | null; problem: ApiProblem | null }>({ value: null, problem: null });
  const shown = useRef("");
  const request = useRef(0);
  const reload = useCallback(async (): Promise<void> => {
    request.current += 1;
    const own = request.current;
    try {
      const value = await load();
      const text = JSON.stringify(value);
      if (own !== request.current || text === shown.current) return;
      shown.current = text;
      setState({ value, problem: null });
    } catch (thrown) {
      if (own !== request.current) return;
      shown.current = "";
      setState(({ value }) => ({ value, problem: problemOf(thrown) }));
    }
  }, [load]);
  useEffect(() => {
    if (!live) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const poll = async (): Promise<void> => {
      if (!document.hidden) await reload();
      if (!isOver) timer = setTimeout(() => void poll(), reloadMs);
    };
    void poll();
    return () => {
      isOver = true;
      request.current += 1;
      clearTimeout(timer);
    };
  }, [live, reload]);
  return { ...state, reload: () => void reload() };
}
