const views = ["approvals", "hosts"] as const;
type View = (typeof views)[number];

/** The view of the page. It is part of the URL, so a link opens the same view. */
export interface Route {
  session: string | null;
  run: string | null;
  /** Another view than a session. */
  view: View | null;
}

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parses `?session=…&run=…`, `?view=approvals` or `?view=hosts`. Ignores invalid ids and a run without a session. */
export function parseRoute(search: string): Route {
  const query = new URLSearchParams(search);
  const session = idIn(query.get("session"));
  if (session !== null) return { session, run: idIn(query.get("run")), view: null };
  return { session, run: null, view: views.find((view) => view === query.get("view")) ?? null };
}

/** The query of a route. It keeps other parameters and is empty for an empty route. */
export function formatRoute(route: Route, search = ""): string {
  const query = new URLSearchParams(search);
  query.delete("session");
  query.delete("run");
  query.delete("view");
  if (route.session !== null) query.set("session", route.session);
  if (route.session !== null && route.run !== null) query.set("run", route.run);
  if (route.session === null && route.view !== null) query.set("view", route.view);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/**
 * The token in a link that `troupe up` printed. Accepts the token alone as well.
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
  return text !== null && idPattern.test(text) ? text : null;
}
