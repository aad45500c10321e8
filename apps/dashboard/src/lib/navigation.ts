import { useSyncExternalStore } from "react";
import { emptyRoute, formatRoute, parseRoute, type Route } from "./route.ts";

/** Browsers refuse more than about 100 URL changes in 30 s, which a held arrow key exceeds. */
const urlDelayMs = 150;

const listeners = new Set<() => void>();
let current = parseRoute(location.search);
let timer: ReturnType<typeof setTimeout> | undefined;

addEventListener("popstate", () => {
  clearTimeout(timer);
  setCurrent(parseRoute(location.search));
});

/** The route in the URL. */
export function useRoute(): Route {
  return useSyncExternalStore(subscribe, () => current);
}

/** Shows a route. `push` adds an entry to the browser history; `replace` replaces the current one. */
export function navigate(to: Partial<Route>, how: "push" | "replace" = "push"): void {
  const next = routeOf(to);
  if (formatRoute(next) === formatRoute(current)) return;
  clearTimeout(timer);
  setCurrent(next);
  if (how === "push") history.pushState(null, "", hrefOf(next));
  else history.replaceState(null, "", hrefOf(next));
}

/** Selects a run of the shown session. It replaces the history entry after a delay. */
export function selectRun(run: string | null): void {
  if (run === current.run || current.session === null) return;
  setCurrent({ ...current, run });
  clearTimeout(timer);
  timer = setTimeout(() => history.replaceState(null, "", hrefOf(current)), urlDelayMs);
}

/** The URL of a route on this page. */
export function hrefOf(to: Partial<Route>): string {
  return location.pathname + formatRoute(routeOf(to), location.search);
}

/** Shows the details or the conversation of the selected run. */
export function selectTab(tab: Route["tab"]): void {
  if (current.session === null) return;
  setCurrent({ ...current, tab });
  clearTimeout(timer);
  history.replaceState(null, "", hrefOf(current));
}

/** A link to a session keeps the way in which sessions are shown. */
function routeOf(to: Partial<Route>): Route {
  const { show, tab } = current;
  return { ...emptyRoute, ...(to.session ? { show, tab } : {}), ...to };
}

function setCurrent(next: Route): void {
  current = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
