const views = ["approvals", "hosts", "agents"] as const;
export type View = (typeof views)[number];

/** The view of the page. It is part of the URL, so a link opens the same view. */
export interface Route {
  session: string | null;
  run: string | null;
  /** Another view than a session. */
  view: View | null;
  /** Shows the runs of the session over time, in place of the tree. */
  show: "timeline" | null;
  /** The conversation of the selected run, in place of its details. */
  tab: "conversation" | null;
  /** The agent in the editor. */
  agent: string | null;
  /** The project whose agents the view lists too. */
  folder: string | null;
}

/** The page without a session and without another view. */
export const emptyRoute: Route = {
  session: null,
  run: null,
  view: null,
  show: null,
  tab: null,
  agent: null,
  folder: null,
};

const agentPattern = /^[A-Za-z0-9_-]{1,128}$/;
const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Parses `?session=…&run=…&show=timeline&tab=conversation`, `?view=approvals`, `?view=hosts` or `?view=agents&agent=…&folder=…`. Ignores
 * invalid ids and a run without a session.
 */
export function parseRoute(search: string): Route {
  const query = new URLSearchParams(search);
  const session = idIn(query.get("session"));
  if (session !== null) {
    const show = query.get("show") === "timeline" ? "timeline" : null;
    const tab = query.get("tab") === "conversation" ? "conversation" : null;
    return { ...emptyRoute, session, run: idIn(query.get("run")), show, tab };
  }
  const view = views.find((each) => each === query.get("view")) ?? null;
  if (view !== "agents") return { ...emptyRoute, view };
  const agent = query.get("agent") ?? "";
  return { ...emptyRoute, view, agent: agentPattern.test(agent) ? agent : null, folder: query.get("folder") || null };
}

/** The query of a route. It keeps other parameters and is empty for an empty route. */
export function formatRoute(route: Route, search = ""): string {
  const query = new URLSearchParams(search);
  for (const name of Object.keys(emptyRoute)) query.delete(name);
  if (route.session !== null) query.set("session", route.session);
  if (route.session !== null && route.run !== null) query.set("run", route.run);
  if (route.session !== null && route.show !== null) query.set("show", route.show);
  if (route.session !== null && route.tab !== null) query.set("tab", route.tab);
  if (route.session === null && route.view !== null) query.set("view", route.view);
  if (route.session === null && route.view === "agents") {
    if (route.agent !== null) query.set("agent", route.agent);
    if (route.folder !== null) query.set("folder", route.folder);
  }
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
