import type { DaemonStatus } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import { api, problemOf } from "./api.ts";
import { openFeed } from "./feed.ts";
import { tokenIn } from "./route.ts";
import type { PageStore } from "./store.ts";

/** Between two attempts to reach a daemon that does not respond. */
const retryMs = 3_000;
/** Between two looks at a warning of the daemon. */
const warningEveryMs = 5_000;

/** The record lags behind the journal, so the page looks for a new session again before it counts as missing. */
const missingRetriesMax = 4;
const missingRetryMs = 250;

/** The connection to the daemon, for components. */
export interface Daemon {
  /** Resolves when the daemon accepts the token. Otherwise throws an `ApiFailure`. */
  login(token: string): Promise<void>;
  open(session: string | null): void;
  /** Loads settled approvals as well, now and at every later load. Throws an `ApiFailure`. */
  loadAllApprovals(): Promise<void>;
  /** Reloads and reconnects now. */
  retry(): void;
}

/**
 * Synchronizes a store with the daemon of this origin. It logs in with the token of the URL, loads the rows, follows the
 * events and reloads after a gap.
 */
export function connect(store: PageStore): Daemon {
  let loading: Promise<void> | null = null;
  let reloadRequested = false;
  let isStreaming = false;
  let includesSettled = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let warningTimer: ReturnType<typeof setTimeout> | undefined;

  const load = (): Promise<void> => {
    if (loading) reloadRequested = true;
    else loading = loadOnce().finally(onLoaded);
    return loading ?? Promise.resolve();
  };
  const loadOnce = async (): Promise<void> => {
    store.beginLoad();
    try {
      const [status, { position, sessions }] = await Promise.all([api.status(), api.sessions()]);
      setStatus(status);
      store.loadSessions(position, sessions);
      await Promise.all([loadApprovals(), loadOpen()]);
    } catch (thrown) {
      fail(thrown);
    }
  };
  /** A warning of the daemon is looked at again until it is gone. */
  const setStatus = (status: DaemonStatus): void => {
    store.set({ status });
    clearTimeout(warningTimer);
    if ((status.warnings ?? []).length > 0) warningTimer = setTimeout(refreshStatus, warningEveryMs);
  };
  const refreshStatus = async (): Promise<void> => {
    // A failed connection is noticed elsewhere.
    await api.status().then(setStatus, () => {});
  };
  const loadApprovals = async (): Promise<void> => {
    for (const state of includesSettled ? (["waiting", "all"] as const) : (["waiting"] as const)) {
      const { position, approvals } = await api.approvals(state);
      store.loadApprovals(position, approvals);
    }
  };
  const onLoaded = (): void => {
    loading = null;
    if (!reloadRequested) return;
    reloadRequested = false;
    void load();
  };
  /** Runs come before those below them, so each page is a tree. */
  const loadPages = async (id: string, after?: string): Promise<void> => {
    const page = await api.session(id, after);
    store.loadDetail(page);
    if (page.next !== undefined && store.state().open?.id === id) await loadPages(id, page.next);
  };
  const loadOpen = async (retries = missingRetriesMax): Promise<void> => {
    const id = store.state().open?.id;
    if (id === undefined) return;
    try {
      await loadPages(id);
    } catch (thrown) {
      const problem = problemOf(thrown);
      const isMissing = problem.httpStatus === 404;
      if (problem.httpStatus === 401) store.setConnection("unauthorised");
      if (isMissing && retries > 0)
        setTimeout(() => id === store.state().open?.id && loadOpen(retries - 1), missingRetryMs);
      else store.failDetail(id, isMissing ? "missing" : "failed", problem);
    }
  };
  const isStillLoading = (id: string): boolean => {
    const { open } = store.state();
    return open?.id === id && open.state === "loading";
  };
  const applyChange = (change: RecordChange): void => {
    store.apply(change);
    const open = store.state().open;
    const isExpected = open?.state === "missing" || open?.state === "loading";
    if (isExpected && change.sessions.some(({ session }) => session === open.id)) void loadOpen();
  };
  const fail = (thrown: unknown): void => {
    const problem = problemOf(thrown);
    store.set({ problem });
    store.setConnection(problem.httpStatus === 401 ? "unauthorised" : "lost");
    clearTimeout(timer);
    // Another tab may hold a working stream, so no connection event would trigger a retry in this tab.
    if (problem.httpStatus !== 401) timer = setTimeout(check, retryMs);
  };

  /** After an interruption another daemon may answer, or this daemon may have forgotten the browser. */
  const check = async (): Promise<void> => {
    try {
      const status = await api.status();
      const known = store.state().status;
      setStatus(status);
      if (!store.complete || known?.home !== status.home) await load();
      else if (store.state().open?.state === "failed") await loadOpen();
      if (isStreaming && store.loaded) store.setConnection("live");
    } catch (thrown) {
      fail(thrown);
    }
  };

  let feed: { retry(): void } | null = null;
  const follow = (): void => {
    feed ??= openFeed({
      position: () => store.position,
      change: applyChange,
      live(event) {
        store.applyLive(event);
        if (event.kind === "disk.waiting") void refreshStatus();
      },
      resync: () => void load(),
      connection(state) {
        isStreaming = state === "up";
        if (isStreaming) store.setConnection("live");
        else if (store.state().connection === "live") store.setConnection("lost");
        void check();
      },
    });
  };

  /** If the daemon rejects the token, the cookie of an earlier login may still work. */
  const logIn = async (token: string): Promise<void> => {
    const refusal = await api.login(token).then(() => null, problemOf);
    store.set({ refusal });
    if (refusal === null) store.setConnection("connecting");
  };
  const start = async (): Promise<void> => {
    const token = takeToken();
    if (token !== null) await logIn(token);
    await load();
    if (store.state().connection !== "unauthorised" || store.loaded) follow();
    // Other tabs share the new cookie and can reconnect.
    if (token !== null) feed?.retry();
  };
  void start();
  // The browser does not reload when a user pastes the link into an open tab.
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
      // The event of a new session follows in a moment. A request before that would fail.
      if (isKnown || session === null) void loadOpen();
      else setTimeout(() => isStillLoading(session) && loadOpen(), missingRetryMs);
    },
    async loadAllApprovals() {
      includesSettled = true;
      // Otherwise the load in progress, or the next one, includes them.
      if (store.loaded) await loadApprovals();
    },
    retry() {
      void load();
      feed?.retry();
    },
  };
}

/** Takes the token out of the URL first, so that the user cannot share it and the history does not keep it. */
function takeToken(): string | null {
  if (!location.hash.includes("token=")) return null;
  const token = tokenIn(location.hash);
  history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}
