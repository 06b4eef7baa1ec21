import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { pages } from "./navigation-pages.ts";

/** Maximum time between `g` and the letter that follows it. */
const sequenceTimeoutMs = 1_200;

/** Keyboard shortcuts on every page: ⌘K or Ctrl+K, `?`, `/`, `g` and a letter, `j` and `k`. */
export function useShortcuts(openPalette: () => void, openKeys: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let gPressedAt = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key === "k") return handled(event, openPalette);
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const page =
        event.timeStamp - gPressedAt < sequenceTimeoutMs &&
        pages.find(({ letter }) => letter === event.key);
      gPressedAt = event.key === "g" ? event.timeStamp : 0;
      if (page) return handled(event, () => void navigate({ to: page.to }));
      if (event.key === "?") return handled(event, openKeys);
      const key = handlersByKey[event.key];
      if (key) handled(event, key);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [navigate, openPalette, openKeys]);
}

const handlersByKey: Record<string, () => void> = {
  "/": () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
  j: () => focusRow(1),
  k: () => focusRow(-1),
};

/** Moves the focus between list rows, which are marked with `data-row`. */
function focusRow(delta: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const currentIndex = rows.findIndex((row) => row.contains(document.activeElement));
  const next =
    currentIndex === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, currentIndex + delta));
  rows[next]?.focus();
  rows[next]?.scrollIntoView({ block: "nearest" });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

function handled(event: KeyboardEvent, action: () => void): void {
  event.preventDefault();
  action();
}
