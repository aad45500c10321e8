export type Theme = "system" | "light" | "dark";

const key = "troupe.theme";
const themes: readonly Theme[] = ["system", "light", "dark"];

/** The theme chosen on this browser; storage may be switched off, and then nothing is remembered. */
export function chosenTheme(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? "system";
  } catch {
    return "system";
  }
}

/** Shows a theme and remembers it. */
export function chooseTheme(theme: Theme): void {
  document.documentElement.setAttribute("data-theme", theme);
  try {
    localStorage.setItem(key, theme);
  } catch {
    // Shown all the same, until the page is loaded again.
  }
}

export function themeAfter(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
}
