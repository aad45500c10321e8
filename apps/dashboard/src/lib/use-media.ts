import { useCallback, useSyncExternalStore } from "react";

/** Wide enough for the list beside the tree. styles/layout.css has the same width. */
export const wideQuery = "(min-width: 760px)";

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
