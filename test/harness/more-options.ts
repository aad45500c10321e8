import type { Locator, Page } from "playwright-core";

/** Opens the folded options of the form that starts a session. */
export async function openMoreOptions(page: Page): Promise<Locator> {
  const options = page.getByTestId("more-options");
  await options.locator("summary").click();
  await options.getByLabel("Folder").waitFor();
  return options;
}
