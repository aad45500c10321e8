import { type RefObject, useLayoutEffect, useRef } from "react";

/** Calls back when an element with the focus is removed, so that the caller can move the focus. */
export function useLeaveWithFocus(element: RefObject<HTMLElement | null>, onLeave: () => void): void {
  const latest = useRef(onLeave);
  useLayoutEffect(() => {
    latest.current = onLeave;
  });
  useLayoutEffect(() => {
    const watchedElement = element.current;
    // The cleanup runs before the removal, so the element still has the focus.
    return () => {
      if (watchedElement?.contains(document.activeElement)) latest.current();
    };
  }, [element]);
}
