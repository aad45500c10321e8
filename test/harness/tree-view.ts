import type { Locator, Page } from "playwright-core";

/** A row of the tree as the page shows it. */
export interface ShownRun {
  run: string;
  agent: string;
  depth: number;
  attempt: number;
  status: string;
}

/** The rows of the tree, top to bottom. */
export function shownRuns(page: Page): Promise<ShownRun[]> {
  return page.getByTestId("run-row").evaluateAll((rows) =>
    rows
      .map((row) => ({ top: row.getBoundingClientRect().top, data: (row as HTMLElement).dataset }))
      .sort((a, b) => a.top - b.top)
      .map(({ data }) => ({
        run: data.run ?? "",
        agent: data.agent ?? "",
        depth: Number(data.depth),
        attempt: Number(data.attempt),
        status: data.status ?? "",
      })),
  );
}

/** The tree without the ids, which no two runs of a demo share. */
export async function shownShape(page: Page): Promise<Omit<ShownRun, "run">[]> {
  return (await shownRuns(page)).map(({ run: _, ...row }) => row);
}

/** A row by agent and, where it matters, attempt. */
export function rowOf(page: Page, agent: string, attempt?: number): Locator {
  const which = attempt === undefined ? "" : `[data-attempt="${attempt}"]`;
  return page.locator(`[data-testid="run-row"][data-agent="${agent}"]${which}`).first();
}

/** Waits until the session that is shown has come to this end, and its tree is there. */
export async function sessionIs(page: Page, status: string): Promise<void> {
  await page.getByTestId("run-row").first().waitFor();
  await page.locator(`.facts .badge[data-status="${status}"]`).waitFor();
}

/** The rows that the whole fast demo leads to. */
export const demoRuns = [
  { agent: "main", depth: 0, attempt: 1, status: "completed" },
  { agent: "researcher", depth: 1, attempt: 1, status: "completed" },
  { agent: "researcher", depth: 1, attempt: 1, status: "failed" },
  { agent: "researcher", depth: 1, attempt: 2, status: "completed" },
  { agent: "coder", depth: 1, attempt: 1, status: "completed" },
  { agent: "tester", depth: 2, attempt: 1, status: "completed" },
];
