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
  go({ session, run: null, view: null }, how);
}

/** Shows a run, of whatever session. */
export function selectPlace(session: string, run: string): void {
  go({ session, run, view: null }, "push");
}

/** Shows the approvals of all sessions. */
export function selectApprovals(): void {
  go({ session: null, run: null, view: "approvals" }, "push");
}

/** Shows the processes that run agents. */
export function selectHosts(): void {
  go({ session: null, run: null, view: "hosts" }, "push");
}

/** Selects a run of the session that is shown. */
export function selectRun(run: string | null): void {
  if (run === current.run || current.session === null) return;
  change({ ...current, run });
  clearTimeout(timer);
  timer = setTimeout(() => history.replaceState(null, "", addressOf(current)), settleMs);
}

/** A link to a place on this page. */
export function addressOf(selection: Selection): string {
  return location.pathname + formatSelection(selection, location.search);
}

function go(next: Selection, how: "push" | "replace"): void {
  if (next.session === current.session && next.run === current.run && next.view === current.view) return;
  clearTimeout(timer);
  change(next);
  if (how === "push") history.pushState(null, "", addressOf(next));
  else history.replaceState(null, "", addressOf(next));
}

function change(next: Selection): void {
  current = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
