import { createContext, useContext, useSyncExternalStore } from "react";
import type { Daemon } from "./daemon.ts";
import type { PageState, PageStore } from "./store.ts";

/** Available to every component. */
export interface Page {
  store: PageStore;
  daemon: Daemon;
}

export const PageContext = createContext<Page | null>(null);

/** Selects a part of the store's state. The selector must not create objects: it returns a part or a primitive. */
export function usePage<T>(select: (state: PageState) => T): T {
  const { store } = usePageContext();
  return useSyncExternalStore(store.subscribe, () => select(store.state()));
}

export function useDaemon(): Daemon {
  return usePageContext().daemon;
}

function usePageContext(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("usePage and useDaemon need a PageContext");
  return page;
}
