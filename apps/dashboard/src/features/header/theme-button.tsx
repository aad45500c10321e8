import { useState } from "react";
import { Glyph } from "../../components/glyphs.tsx";
import { chooseTheme, chosenTheme, themeAfter } from "../../lib/theme.ts";

/** Goes round system, light, dark. */
export function ThemeButton() {
  const [theme, setTheme] = useState(chosenTheme);
  const next = themeAfter(theme);
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={`Theme: ${theme}. Switch to ${next}.`}
      title={`Theme: ${theme}`}
      onClick={() => {
        chooseTheme(next);
        setTheme(next);
      }}
    >
      <Glyph name={theme} />
    </button>
  );
}
