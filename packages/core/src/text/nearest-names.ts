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
    .map((name) => ({ name, distance: editDistance(target, name.toLowerCase(), distanceMax) }))
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

/** The Levenshtein distance; infinite if it is more than `distanceMax`. A whole list of agents asks it thousands of times. */
function editDistance(from: string, to: string, distanceMax: number): number {
  if (Math.abs(from.length - to.length) > distanceMax) return Number.POSITIVE_INFINITY;
  const row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const code = from.charCodeAt(i - 1);
    let diagonal = i - 1;
    let left = i;
    let least = i;
    row[0] = i;
    for (let j = 1; j <= to.length; j++) {
      const above = row[j] as number;
      left = Math.min(diagonal + (code === to.charCodeAt(j - 1) ? 0 : 1), above + 1, left + 1);
      diagonal = above;
      row[j] = left;
      least = Math.min(least, left);
    }
    // No later row has a smaller number.
    if (least > distanceMax) return Number.POSITIVE_INFINITY;
  }
  const distance = row[to.length] as number;
  return distance > distanceMax ? Number.POSITIVE_INFINITY : distance;
}
