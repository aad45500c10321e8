import { api, problemOf } from "./api.ts";
import { openFeed } from "./feed.ts";
import type { PageStore } from "./store.ts";
import { tokenIn } from "./url-state.ts";

/** What the page can ask for. */
export interface Daemon {
  /** Resolves when the token was accepted; throws an `ApiFailure` otherwise. */
  login(token: string): Promise<void>;
  open(session: string | null): void;
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
      await loadOpen();
    } catch (thrown) {
      fail(thrown);
    }
  };
  const finished = (): void => {
    loading = null;
    if (!again) return;
    again = false;
    void load();
  };
  const loadOpen = async (): Promise<void> => {
    const id = store.state().open?.id;
    if (id === undefined) return;
    try {
      store.loadDetail(await api.session(id));
    } catch (thrown) {
      const problem = problemOf(thrown);
      if (problem.httpStatus === 401) store.setConnection("unauthorised");
      store.failDetail(id, problem.httpStatus === 404 ? "missing" : "failed", problem);
    }
  };
  const fail = (thrown: unknown): void => {
    const problem = problemOf(thrown);
    store.set({ problem });
    store.setConnection(problem.httpStatus === 401 ? "unauthorised" : "lost");
  };

  /** After a break the daemon may be another one, with another provider, or may no longer know this browser. */
  const check = async (): Promise<void> => {
    try {
      const status = await api.status();
      const known = store.state().status;
      store.set({ status });
      if (!store.loaded || known?.home !== status.home) await load();
    } catch (thrown) {
      fail(thrown);
    }
  };

  let feed: { retry(): void } | null = null;
  const follow = (): void => {
    feed ??= openFeed({
      position: () => store.position,
      change: (change) => store.apply(change),
      live: (event) => store.applyLive(event),
      resync: () => void load(),
      connection(state) {
        if (state === "up") store.setConnection("live");
        else if (store.state().connection === "live") store.setConnection("lost");
        void check();
      },
    });
  };

  const start = async (): Promise<void> => {
    const token = takeToken();
    if (token !== null) await api.login(token).catch(fail);
    await load();
    if (store.state().connection !== "unauthorised" || store.loaded) follow();
  };
  void start();

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
      if (store.loaded) void loadOpen();
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
