import type { SessionDetail } from "./api.ts";

/**
 * Reads all pages of a session. The position is that of the first page: events after it can repeat a row, and skip none.
 *
 * @param read reads the page behind a cursor; undefined for the first page
 */
export async function readWholeSession<Page extends SessionDetail>(
  read: (after: string | undefined) => Promise<Page>,
): Promise<Page> {
  const whole = await read(undefined);
  for (let { next } = whole; next !== undefined; ) {
    const page = await read(next);
    whole.runs.push(...page.runs);
    whole.approvals.push(...page.approvals);
    if (page.flaws) whole.flaws = [...(whole.flaws ?? []), ...page.flaws];
    if (page.undos) whole.undos = [...(whole.undos ?? []), ...page.undos];
    next = page.next;
  }
  delete whole.next;
  return whole;
}
