const views = ["approvals", "hosts"] as const;
export type View = (typeof views)[number];

/** What the page shows: kept in the address, so that a link leads to the same place. */
export interface Selection {
  session: string | null;
  run: string | null;
  /** All approvals, or all hosts, in place of a session. */
  view: View | null;
}

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads `?session=…&run=…` or `?view=approvals`, `?view=hosts`. What is no id counts as absent, and so does a run without a session. */
export function parseSelection(search: string): Selection {
  const query = new URLSearchParams(search);
  const session = idIn(query.get("session"));
  if (session !== null) return { session, run: idIn(query.get("run")), view: null };
  return { session, run: null, view: views.find((view) => view === query.get("view")) ?? null };
}

/** The query of a selection, other parameters kept. Empty when nothing is selected. */
export function formatSelection(selection: Selection, search = ""): string {
  const query = new URLSearchParams(search);
  query.delete("session");
  query.delete("run");
  query.delete("view");
  if (selection.session !== null) query.set("session", selection.session);
  if (selection.session !== null && selection.run !== null) query.set("run", selection.run);
  if (selection.session === null && selection.view !== null) query.set("view", selection.view);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/**
 * The token in a link that `troupe up` printed, or in what somebody pasted of it.
 *
 * @example
 * tokenIn("http://127.0.0.1:7777/#token=abc"); // "abc"
 */
export function tokenIn(text: string): string | null {
  const trimmed = text.trim();
  const hash = trimmed.indexOf("#");
  if (hash >= 0) return new URLSearchParams(trimmed.slice(hash + 1)).get("token") || null;
  return trimmed === "" ? null : trimmed;
}

function idIn(text: string | null): string | null {
  return text !== null && idShape.test(text) ? text : null;
}
