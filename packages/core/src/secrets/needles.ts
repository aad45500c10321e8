/** A text that is looked for, and what is written in its place. */
export interface Needle {
  text: string;
  mark: string;
  /** Line breaks may stand within it. */
  wraps: boolean;
}

/** A part of a text, and what is to stand there. */
export interface Find {
  start: number;
  end: number;
  mark: string;
}

export interface NeedleFinder {
  /** The leftmost needle from a place on, of those that begin there the longest. */
  find(text: string, from: number): Find | null;
  /** The first place from which the text may be the beginning of a needle that goes on after its end. */
  openFrom(text: string): number;
}

/** Characters that the shift table looks at together. */
const blockLength = 3;
const tableSize = 2 ** 15;

/** More of each needle need not be looked at to tell where it cannot be. */
const windowMax = 16;

/** A line of wrapped base64 and its break have at least so many characters: a break adds no more than two to them. */
const lineLengthMin = 32;

/**
 * Looks for hundreds of needles at once (Wu and Manber's search): a window moves over the text and, for the block at its
 * end, a table says how far it may jump without passing over a beginning of any needle. Most blocks are in no needle, so
 * that one character in five is looked at. Linear: only where a needle's first characters stand is anything compared.
 */
export function createNeedleFinder(needles: readonly Needle[]): NeedleFinder {
  if (needles.length === 0) return { find: () => null, openFrom: (text) => text.length };
  const searched = needles.flatMap(withTail);
  const window = Math.min(windowMax, ...searched.map(({ text }) => text.length));
  const lastBlock = window - blockLength;
  const shifts = new Uint8Array(tableSize).fill(lastBlock + 1);
  const atWindow = new Map<number, Needle[]>();
  for (const needle of searched) {
    for (let place = 0; place <= lastBlock; place += 1) {
      const block = blockAt(needle.text, place);
      shifts[block] = Math.min(shifts[block] ?? 0, lastBlock - place);
    }
    push(atWindow, blockAt(needle.text, lastBlock), needle);
  }
  const beginnings = new Map<number, Needle[]>();
  for (const needle of searched) {
    push(beginnings, needle.text.charCodeAt(0), needle);
    push(beginnings, pairAt(needle.text, 0), needle);
  }
  const reach = Math.max(...searched.map(reachOf));

  return {
    find(text, from) {
      const last = text.length - blockLength;
      let place = from + lastBlock;
      while (place <= last) {
        const block = blockAt(text, place);
        const shift = shifts[block] ?? 0;
        if (shift === 0) {
          const found = longestAt(text, place - lastBlock, atWindow.get(block) ?? []);
          if (found) return found;
        }
        place += shift || 1;
      }
      return null;
    },
    openFrom(text) {
      for (let place = Math.max(0, text.length - reach); place < text.length; place += 1) {
        const known = beginnings.get(place + 1 === text.length ? text.charCodeAt(place) : pairAt(text, place));
        if (known?.some((needle) => isBeginning(needle, text, place))) return place;
      }
      return text.length;
    },
  };
}

/** Where a line may break just in the window of a needle, what comes after its window is looked for as well. */
function withTail(needle: Needle): Needle[] {
  if (!needle.wraps || needle.text.length < 4 * windowMax) return [needle];
  return [needle, { ...needle, text: needle.text.slice(windowMax) }];
}

function blockAt(text: string, place: number): number {
  const high = (text.charCodeAt(place) << 10) ^ (text.charCodeAt(place + 1) << 5);
  return (high ^ text.charCodeAt(place + 2)) & (tableSize - 1);
}

/** Never the code of a single character. */
function pairAt(text: string, place: number): number {
  return (text.charCodeAt(place) + 1) * 2 ** 16 + text.charCodeAt(place + 1);
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** How much of a text a needle may take, one character less: for lines of 32 and breaks of four (`\r\n`, escaped). */
function reachOf({ text, wraps }: Needle): number {
  return text.length - 1 + (wraps ? 4 * Math.ceil(text.length / lineLengthMin) : 0);
}

function longestAt(text: string, start: number, candidates: readonly Needle[]): Find | null {
  let longest: Find | null = null;
  for (const needle of candidates) {
    const end = endOf(needle, text, start);
    if (end > (longest?.end ?? -1)) longest = { start, end, mark: needle.mark };
  }
  return longest;
}

/** Where a needle that begins at a place ends; -1 where it is not there. */
function endOf(needle: Needle, text: string, start: number): number {
  if (text.startsWith(needle.text, start)) return start + needle.text.length;
  if (!needle.wraps) return -1;
  const { place, matched } = walk(needle, text, start);
  return matched === needle.text.length ? place : -1;
}

function isBeginning(needle: Needle, text: string, start: number): boolean {
  const left = text.length - start;
  if (left < needle.text.length && needle.text.startsWith(text.slice(start))) return true;
  if (!needle.wraps) return false;
  const { place, matched } = walk(needle, text, start);
  return place === text.length && matched < needle.text.length;
}

/** Goes along a needle and a text as far as they agree, over the line breaks that only the text has. */
function walk({ text: wanted }: Needle, text: string, start: number): { place: number; matched: number } {
  let place = start;
  let matched = 0;
  const breaksMax = Math.ceil(wanted.length / lineLengthMin);
  let breaks = 0;
  while (place < text.length && matched < wanted.length) {
    if (text[place] === wanted[matched]) {
      place += 1;
      matched += 1;
    } else {
      const length = breaks < breaksMax ? breakLength(text, place) : 0;
      if (length === 0) break;
      breaks += 1;
      place += length;
    }
  }
  return { place, matched };
}

/** Of a line break, as it is or escaped for JSON; half a break at the end of a text is one too. */
function breakLength(text: string, place: number): number {
  const [, found = ""] = /^((?:\r|\\r)?(?:\n|\\n)|(?:\r|\\r?)$|\\r\\$)/.exec(text.slice(place, place + 4)) ?? [];
  return found.length;
}
