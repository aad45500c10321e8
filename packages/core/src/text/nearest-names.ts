/**
 * The names most similar to a misspelt one, best first. Very different names are left out.
 *
 * @example
 * nearestNames("raedme.md", ["readme.md", "main.ts"]); // ["readme.md"]
 */
export function nearestNames(wanted: string, names: readonly string[], countMax = 3): string[] {
  const target = wanted.toLowerCase();
  const distanceMax = Math.max(2, Math.floor(target.length / 2));
  return names
    .map((name) => ({ name, distance: editDistance(target, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, countMax)
    .map(({ name }) => name);
}

/** A question that suggests the most similar name; null if none is similar. */
export function didYouMean(name: string, known: readonly string[]): string | null {
  const [nearest] = nearestNames(name, known, 1);
  return nearest === undefined ? null : `did you mean ${nearest}?`;
}

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[to.length] ?? 0;
}
