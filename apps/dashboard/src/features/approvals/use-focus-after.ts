import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";

/**
 * Keeps the focus near when the card that has it goes: it moves to the card that takes its place, else to what says
 * what became of it. Returns what a card calls as it goes.
 */
export function useFocusAfter(
  ids: readonly string[],
  list: RefObject<HTMLElement | null>,
  fallback: RefObject<HTMLElement | null>,
): (id: string) => void {
  const before = useRef<readonly string[]>(ids);
  const lostAt = useRef<number | null>(null);
  const onGone = useCallback((id: string) => {
    lostAt.current = before.current.indexOf(id);
  }, []);
  useLayoutEffect(() => {
    before.current = ids;
    if (lostAt.current === null) return;
    const next = ids[Math.min(lostAt.current, ids.length - 1)];
    lostAt.current = null;
    const card = next === undefined ? null : list.current?.querySelector<HTMLElement>(`[data-approval="${next}"] h3`);
    (card ?? fallback.current)?.focus();
  });
  return onGone;
}
