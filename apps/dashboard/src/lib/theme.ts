export type Theme = "system" | "light" | "dark";

const key = "troupe.theme";
const themes: readonly Theme[] = ["system", "light", "dark"];

/** The stored theme of this browser. Without storage it is `system`. */
export function storedTheme(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? "system";
  } catch {
    return "system";
  }
}

/** Applies and stores a theme. */
export function applyTheme(theme: Theme): void {
  document.documentElement.setAttribute("data-theme", theme);
  try {
    localStorage.setItem(key, theme);
  } catch {
    // Without storage the theme lasts until the next page load.
  }
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
}
