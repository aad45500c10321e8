import { type RefObject, useLayoutEffect, useState } from "react";

/** `columns`: a column per figure. `stacked`: two figures per column. `lines`: the figures under the words. */
export type TreeLayout = "columns" | "stacked" | "lines";

/** How a tree is laid out in its own width, which the panel beside it changes too. */
export function useTreeLayout(element: RefObject<HTMLElement | null>): TreeLayout {
  const [layout, setLayout] = useState<TreeLayout>("columns");
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const measure = (): void => setLayout(layoutFor(observed.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(observed);
    measure();
    return () => observer.disconnect();
  }, [element]);
  return layout;
}

function layoutFor(widthPx: number): TreeLayout {
  if (widthPx < 600) return "lines";
  return widthPx < 1040 ? "stacked" : "columns";
}
