import { Link } from "@tanstack/react-router";
import { useFleetQuery } from "../api/queries.ts";
import { sentenceCase } from "../ui/sentence-case.ts";
import { useNavigationPages } from "./use-navigation-pages.ts";
import { useTheme } from "./use-theme.ts";

const entryClass =
  "flex h-12 flex-1 items-center justify-center rounded px-2 text-muted hover:bg-hover hover:text-text md:h-8 md:w-full md:flex-none md:justify-start";
const currentClass =
  "aria-[current=page]:font-semibold aria-[current=page]:text-text md:aria-[current=page]:bg-hover";

/** A sidebar; on a phone, a bar at the bottom. */
export function Navigation({ onPalette }: { onPalette(): void }) {
  const pages = useNavigationPages();
  return (
    <nav
      aria-label="Pages"
      className="fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-surface md:sticky md:inset-x-auto md:top-0 md:h-dvh md:w-44 md:shrink-0 md:flex-col md:gap-0.5 md:border-t-0 md:border-r md:p-3"
    >
      <p className="hidden px-2 pb-3 text-md font-semibold md:block">herdctl</p>
      {pages.map(({ to, title, letter }) => (
        <Link
          key={to}
          to={to}
          title={`Shortcut: g ${letter}`}
          className={`${entryClass} ${currentClass}`}
        >
          {title}
          {to === "/inbox" && <WaitingCount />}
        </Link>
      ))}
      <div className="hidden md:mt-auto md:block">
        <button type="button" onClick={onPalette} className={entryClass}>
          Search… <kbd className="ml-auto font-sans text-sm">⌘K</kbd>
        </button>
        <ThemeSwitch />
      </div>
    </nav>
  );
}

function ThemeSwitch() {
  const { theme, setNext } = useTheme();
  return (
    <button type="button" onClick={setNext} className={entryClass}>
      Theme: {sentenceCase(theme)}
    </button>
  );
}

function WaitingCount() {
  const count = useFleetQuery("approvals").data?.approvals.length ?? 0;
  if (count === 0) return null;
  return (
    <span className="ml-1.5 min-w-5 rounded-full bg-wait-soft px-1.5 text-center text-sm font-semibold text-wait md:ml-auto">
      {count}
      <span className="sr-only"> open requests</span>
    </span>
  );
}
