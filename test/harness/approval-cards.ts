import type { Locator, Page } from "playwright-core";

/** The cards of questions that say this. */
export function cardOf(page: Page, words: string): Locator {
  return page.getByTestId("approval-card").filter({ hasText: words });
}

/** Displayed arguments of a card, by name. */
export function shownArguments(card: Locator): Promise<Record<string, string>> {
  return card
    .locator(".argument")
    .evaluateAll((blocks) =>
      Object.fromEntries(
        blocks.map((block) => [
          block.querySelector(".argument-name")?.firstChild?.textContent ?? "",
          block.querySelector("pre")?.textContent ?? "",
        ]),
      ),
    );
}

/** Waits until the header says that so many wait. */
export async function waitingAre(page: Page, count: number): Promise<void> {
  await page.locator(`[data-testid="approvals-link"][data-waiting="${count}"]`).waitFor();
}

/** Waits until the page says what became of a question. */
export async function answerResultIs(page: Page, words: string): Promise<void> {
  await page.getByTestId("approvals-status").filter({ hasText: words }).waitFor();
}
