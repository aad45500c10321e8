/** Maps items with a few calls at a time, in order. The first failure ends it. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  const work = async (): Promise<void> => {
    for (const [i, item] of entries) results[i] = await act(item);
  };
  await Promise.all(Array.from({ length: callsMax }, work));
  return results;
}

/** Google limits the calls of a user per second. */
const callsMax = 8;
