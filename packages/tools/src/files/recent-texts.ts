export interface RecentTexts {
  /** @param version as models are shown it, or whole */
  get(version: string): string | null;
  put(version: string, text: string): void;
}

/** The texts that were read and written last, by version: what a conflict can be shown against. */
export function createRecentTexts({ charactersMax = 32 * 1024 * 1024 } = {}): RecentTexts {
  const texts = new Map<string, string>();
  let characters = 0;

  const drop = (version: string): void => {
    characters -= texts.get(version)?.length ?? 0;
    texts.delete(version);
  };

  return {
    get(version) {
      for (const [known, text] of texts) if (known.startsWith(version)) return text;
      return null;
    },
    put(version, text) {
      drop(version);
      if (text.length > charactersMax / 2) return;
      texts.set(version, text);
      characters += text.length;
      for (const oldest of texts.keys()) {
        if (characters <= charactersMax) break;
        drop(oldest);
      }
    },
  };
}
