/** Providers that play a script or a recording instead of calling a model. */
const offlineProviders = ["scripted", "replay"];

/** Whether nothing but a script or a recording answers to this id. */
export function isOfflineModel(id: string): boolean {
  return offlineProviders.includes(providerOf(id) ?? "");
}

/** The first segment of an id; null where there is none. */
export function providerOf(id: string): string | null {
  const end = id.indexOf("/");
  return end > 0 ? id.slice(0, end) : null;
}
