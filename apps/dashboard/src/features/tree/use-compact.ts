import { type RefObject, useLayoutEffect, useState } from "react";

/** Narrower than this the figures of a run stand under its name instead of in columns. */
const columnsPxMin = 640;

/** Whether an element is too narrow for columns; follows its width, which the panel beside it changes too. */
export function useCompact(element: RefObject<HTMLElement | null>): boolean {
  const [compact, setCompact] = useState(false);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const measure = (): void => setCompact(observed.clientWidth < columnsPxMin);
    const observer = new ResizeObserver(measure);
    observer.observe(observed);
    measure();
    return () => observer.disconnect();
  }, [element]);
  return compact;
}
