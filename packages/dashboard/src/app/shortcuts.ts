import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { places } from "./places.ts";

/** How long a `g` waits for its letter. */
const patience = 1_200;

/** Keys that hold on every page: ⌘K, `/`, `g` and a letter, `j` and `k`. */
export function useShortcuts(openPalette: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goneAt = 0;
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key === "k") return done(event, openPalette);
      if (event.metaKey || event.ctrlKey || event.altKey || isWriting(event.target)) return;
      const place =
        event.timeStamp - goneAt < patience && places.find(({ letter }) => letter === event.key);
      goneAt = event.key === "g" ? event.timeStamp : 0;
      if (place) return done(event, () => void navigate({ to: place.to }));
      const key = keys[event.key];
      if (key) done(event, key);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [navigate, openPalette]);
}

const keys: Record<string, () => void> = {
  "/": () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
  j: () => step(1),
  k: () => step(-1),
};

/** From row to row of a list: whatever is marked as the way into one. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by));
  rows[next]?.focus();
  rows[next]?.scrollIntoView({ block: "nearest" });
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

function done(event: KeyboardEvent, act: () => void): void {
  event.preventDefault();
  act();
}
