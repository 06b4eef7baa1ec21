import { useSyncExternalStore } from "react";

/** A counter that increases when the theme changes, so that canvases redraw. */
export function useThemeRevision(): number {
  return useSyncExternalStore(subscribe, () => revision);
}

/** The computed value of a CSS colour variable, for use on a canvas. */
export function canvasColour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

let revision = 0;

function subscribe(listener: () => void): () => void {
  const onChange = () => {
    revision += 1;
    listener();
  };
  const darkModeQuery = matchMedia("(prefers-color-scheme: dark)");
  darkModeQuery.addEventListener("change", onChange);
  const themeObserver = new MutationObserver(onChange);
  themeObserver.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    darkModeQuery.removeEventListener("change", onChange);
    themeObserver.disconnect();
  };
}
