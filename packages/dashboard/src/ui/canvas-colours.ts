import { useSyncExternalStore } from "react";

/** Goes up when the theme changes: what is drawn on a canvas has to be drawn anew then. */
export function useThemeRevision(): number {
  return useSyncExternalStore(subscribe, () => revision);
}

/** A variable of the style sheet as a canvas understands it. */
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
  const changed = () => {
    revision += 1;
    listener();
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", changed);
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    system.removeEventListener("change", changed);
    chosen.disconnect();
  };
}
