/** Repeatable random choices: the same seed gives the same sequence. */
export interface Random {
  /** 0 to `count` - 1. */
  below(count: number): number;
  chance(percent: number): boolean;
  of<T>(options: readonly T[]): T;
  /** 0 to `max`. The ends are likely, because errors show there. */
  upTo(max: number): number;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    below,
    chance: (percent) => next() * 100 < percent,
    of(options) {
      const found = options[below(options.length)];
      if (found === undefined) throw new Error("nothing to choose from");
      return found;
    },
    upTo(max) {
      const roll = below(5);
      return roll < 2 ? max : roll === 2 ? 0 : below(max + 1);
    },
  };
}
