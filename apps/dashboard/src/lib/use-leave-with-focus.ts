import { type RefObject, useLayoutEffect, useRef } from "react";

/** Calls back when an element goes while the focus is in it: the focus would fall out of the page. */
export function useLeaveWithFocus(element: RefObject<HTMLElement | null>, onLeave: () => void): void {
  const latest = useRef(onLeave);
  useLayoutEffect(() => {
    latest.current = onLeave;
  });
  useLayoutEffect(() => {
    const watched = element.current;
    // Still in the document here, and so is the focus.
    return () => {
      if (watched?.contains(document.activeElement)) latest.current();
    };
  }, [element]);
}
