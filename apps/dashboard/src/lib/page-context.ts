import { createContext, useContext, useSyncExternalStore } from "react";
import type { Daemon } from "./daemon.ts";
import type { PageState, PageStore } from "./store.ts";

/** What every component may reach: the store to read, the daemon to ask. */
export interface Page {
  store: PageStore;
  daemon: Daemon;
}

export const PageContext = createContext<Page | null>(null);

/** A part of the store's state. The selector must return a part as it is, or a primitive: never a new object. */
export function usePage<T>(select: (state: PageState) => T): T {
  const { store } = usePageContext();
  return useSyncExternalStore(store.subscribe, () => select(store.state()));
}

export function useDaemon(): Daemon {
  return usePageContext().daemon;
}

function usePageContext(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("used outside of PageContext");
  return page;
}
