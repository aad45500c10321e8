/** Work on the same key is done one piece after the other, in the order in which it came. */
export type Serial = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createSerial(): Serial {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key);
    const mine = before ? before.then(work, work) : work();
    last.set(key, mine);
    const clear = (): void => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(clear, clear);
    return mine;
  };
}
