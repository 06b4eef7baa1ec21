import { useState } from "react";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

/** The theme of the operating system, unless the user chose one. `theme.js` applies it before the first paint. */
export function useTheme(): { theme: Theme; setNext(): void } {
  const [theme, setTheme] = useState(readStoredTheme);
  const setNext = () => {
    const nextTheme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
    if (nextTheme === "system") {
      localStorage.removeItem("theme");
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem("theme", nextTheme);
      document.documentElement.dataset.theme = nextTheme;
    }
    setTheme(nextTheme);
  };
  return { theme, setNext };
}

function readStoredTheme(): Theme {
  const stored = localStorage.getItem("theme");
  return themes.find((theme) => theme === stored) ?? "system";
}
