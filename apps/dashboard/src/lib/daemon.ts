import type { RecordChange } from "@troupe/core/internal";
import { api, problemOf } from "./api.ts";
import { openFeed } from "./feed.ts";
import type { PageStore } from "./store.ts";
import { tokenIn } from "./url-state.ts";

/** Between two tries to reach a daemon that does not answer. */
const retryMs = 3_000;

/** The record lags behind the journal: a session that was just started is looked for again before it counts as missing. */
const missesMax = 4;
const missMs = 250;

/** What the page can ask for. */
export interface Daemon {
  /** Resolves when the token was accepted; throws an `ApiFailure` otherwise. */
  login(token: string): Promise<void>;
  open(session: string | null): void;
  /** Brings the approvals that were answered as well, from now on at every load. Throws an `ApiFailure`. */
  loadAllApprovals(): Promise<void>;
  /** Asks again now, whatever failed. */
  retry(): void;
}

/**
 * Keeps a store in step with the daemon of this origin: logs in with the token of the address, loads, follows the
 * events, loads anew when something was missed.
 */
export function connect(store: PageStore): Daemon {
  let loading: Promise<void> | null = null;
  let again = false;
  let streaming = false;
  let wantsAll = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const load = (): Promise<void> => {
    if (loading) again = true;
    else loading = loadOnce().finally(finished);
    return loading ?? Promise.resolve();
  };
  const loadOnce = async (): Promise<void> => {
    store.beginLoad();
    try {
      const [status, { position, sessions }] = await Promise.all([api.status(), api.sessions()]);
      store.set({ status });
      store.loadSessions(position, sessions);
      await Promise.all([loadApprovals(), loadOpen()]);
    } catch (thrown) {
      fail(thrown);
    }
  };
  const loadApprovals = async (): Promise<void> => {
    for (const which of wantsAll ? (["waiting", "all"] as const) : (["waiting"] as const)) {
      const { position, approvals } = await api.approvals(which);
      store.loadApprovals(position, approvals);
    }
  };
  const finished = (): void => {
    loading = null;
    if (!again) return;
    again = false;
    void load();
  };
  const loadOpen = async (patience = missesMax): Promise<void> => {
    const id = store.state().open?.id;
    if (id === undefined) return;
    try {
      store.loadDetail(await api.session(id));
    } catch (thrown) {
      const problem = problemOf(thrown);
      const missing = problem.httpStatus === 404;
      if (problem.httpStatus === 401) store.setConnection("unauthorised");
      if (missing && patience > 0) setTimeout(() => id === store.state().open?.id && loadOpen(patience - 1), missMs);
      else store.failDetail(id, missing ? "missing" : "failed", problem);
    }
  };
  const isStillLoading = (id: string): boolean => {
    const { open } = store.state();
    return open?.id === id && open.state === "loading";
  };
  const takeChange = (change: RecordChange): void => {
    store.apply(change);
    const open = store.state().open;
    const isAwaited = open?.state === "missing" || open?.state === "loading";
    if (isAwaited && change.sessions.some(({ session }) => session === open.id)) void loadOpen();
  };
  const fail = (thrown: unknown): void => {
    const problem = problemOf(thrown);
    store.set({ problem });
    store.setConnection(problem.httpStatus === 401 ? "unauthorised" : "lost");
    clearTimeout(timer);
    // The stream may be another tab's and whole: nobody else would tell this one to try again.
    if (problem.httpStatus !== 401) timer = setTimeout(check, retryMs);
  };

  /** After a break the daemon may be another one, with another provider, or may no longer know this browser. */
  const check = async (): Promise<void> => {
    try {
      const status = await api.status();
      const known = store.state().status;
      store.set({ status });
      if (!store.complete || known?.home !== status.home) await load();
      else if (store.state().open?.state === "failed") await loadOpen();
      if (streaming && store.loaded) store.setConnection("live");
    } catch (thrown) {
      fail(thrown);
    }
  };

  let feed: { retry(): void } | null = null;
  const follow = (): void => {
    feed ??= openFeed({
      position: () => store.position,
      change: takeChange,
      live: (event) => store.applyLive(event),
      resync: () => void load(),
      connection(state) {
        streaming = state === "up";
        if (streaming) store.setConnection("live");
        else if (store.state().connection === "live") store.setConnection("lost");
        void check();
      },
    });
  };

  /** A refused link is no reason to stop: the cookie of an earlier one may still be good. */
  const enter = async (token: string): Promise<void> => {
    const refusal = await api.login(token).then(() => null, problemOf);
    store.set({ refusal });
    if (refusal === null) store.setConnection("connecting");
  };
  const start = async (): Promise<void> => {
    const token = takeToken();
    if (token !== null) await enter(token);
    await load();
    if (store.state().connection !== "unauthorised" || store.loaded) follow();
    // Tabs that were left waiting by a daemon's restart share this cookie.
    if (token !== null) feed?.retry();
  };
  void start();
  // The link pasted into a tab that is open already: the browser loads nothing anew for it.
  addEventListener("hashchange", () => location.hash.includes("token=") && void start());

  return {
    async login(token) {
      await api.login(token);
      store.setConnection("connecting");
      await load();
      if (feed) feed.retry();
      else follow();
    },
    open(session) {
      store.openSession(session);
      if (!store.loaded) return;
      const isKnown = store.state().sessions?.some((row) => row.session === session);
      // One that was just started is told of in a moment: to ask before that would be an error for nothing.
      if (isKnown || session === null) void loadOpen();
      else setTimeout(() => isStillLoading(session) && loadOpen(), missMs);
    },
    async loadAllApprovals() {
      wantsAll = true;
      // Otherwise a load is under way, or will come, and brings them.
      if (store.loaded) await loadApprovals();
    },
    retry() {
      void load();
      feed?.retry();
    },
  };
}

/** The token of the printed link, taken out of the address before anything else: it must not be shared or kept. */
function takeToken(): string | null {
  if (!location.hash.includes("token=")) return null;
  const token = tokenIn(location.hash);
  history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}
