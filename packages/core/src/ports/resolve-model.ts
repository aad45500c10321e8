/** What an agent's definition wants, and where it stands. */
export interface ModelPreference {
  /** An alias, an id of the configured map, `provider/model`, or `inherit`. */
  wanted: string;
  /** The parent's model, or the session's: already resolved. */
  inherited: string;
  agent: string;
  /** The folder of the session: its configuration may say something of the agent. */
  workspace: string;
}

/**
 * The model that a run is pinned to, as `provider/model`. Asked once, when a run opens. Never throws: an id that nothing
 * is configured for comes back as it is, and calling it says why.
 */
export type ResolveModel = (preference: ModelPreference) => Promise<string>;
