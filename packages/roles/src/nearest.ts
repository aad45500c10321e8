/**
 * The candidate that was probably meant by a misspelt word, if one is near enough: the same letters in another
 * spelling (`max_turns`), or about a third of them wrong.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const letters = plain(word);
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(letters.length / 3)) + 1;
  for (const candidate of candidates) {
    const other = plain(candidate);
    if (Math.abs(other.length - letters.length) >= bestDistance) continue;
    const distance = editDistance(letters, other);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function plain(word: string): string {
  return word
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")
    .slice(0, 64);
}

/** How many letters must be added, removed or replaced to make one word of the other. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
