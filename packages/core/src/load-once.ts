export interface LoadedOnce<T> {
  /** Loads with the first use. A failed load is tried again with the next use. */
  load(): Promise<T>;
  /** The load of an earlier use; null before the first one and after a failed one. */
  begun(): Promise<T> | null;
}

/**
 * Delays what is costly until the first use, and shares it among all uses.
 *
 * @example
 * const adapter = loadOnce(() => import("./adapter.ts"));
 * const { call } = await adapter.load();
 */
export function loadOnce<T>(load: () => Promise<T>): LoadedOnce<T> {
  let loading: Promise<T> | null = null;
  return {
    load() {
      loading ??= load().catch((error) => {
        loading = null;
        throw error;
      });
      return loading;
    },
    begun: () => loading,
  };
}
