import { useSyncExternalStore } from "react";
import { formatSelection, parseSelection, type Selection } from "./url-state.ts";

/** Browsers refuse more than some 100 address changes in 30 s, which a held arrow key exceeds. */
const settleMs = 150;

const listeners = new Set<() => void>();
let current = parseSelection(location.search);
let timer: ReturnType<typeof setTimeout> | undefined;

addEventListener("popstate", () => {
  clearTimeout(timer);
  change(parseSelection(location.search));
});

/** What the address selects. */
export function useSelection(): Selection {
  return useSyncExternalStore(subscribe, () => current);
}

/** Shows a session: a place of its own in the history, so that Back leads to the one before. */
export function selectSession(session: string | null, how: "push" | "replace" = "push"): void {
  if (session === current.session && current.run === null) return;
  clearTimeout(timer);
  change({ session, run: null });
  const address = addressOf(current);
  if (how === "push") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

/** Selects a run of the session that is shown. */
export function selectRun(run: string | null): void {
  if (run === current.run) return;
  change({ ...current, run });
  clearTimeout(timer);
  timer = setTimeout(() => history.replaceState(null, "", addressOf(current)), settleMs);
}

/** A link to a place on this page. */
export function addressOf(selection: Selection): string {
  return location.pathname + formatSelection(selection, location.search);
}

function change(next: Selection): void {
  current = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
