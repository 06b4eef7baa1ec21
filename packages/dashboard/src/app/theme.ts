import { useState } from "react";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

/** As the system has it, unless somebody chose; `theme.js` sets it before the page is drawn. */
export function useTheme(): { theme: Theme; next(): void } {
  const [theme, setTheme] = useState(chosen);
  const next = () => {
    const wanted = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
    if (wanted === "system") {
      localStorage.removeItem("theme");
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem("theme", wanted);
      document.documentElement.dataset.theme = wanted;
    }
    setTheme(wanted);
  };
  return { theme, next };
}

function chosen(): Theme {
  const stored = localStorage.getItem("theme");
  return themes.find((theme) => theme === stored) ?? "system";
}
