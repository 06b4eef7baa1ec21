import { Link, useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { useFleetQuery } from "../api/queries.ts";
import { Dialog } from "../ui/dialog.tsx";
import { sentenceCase } from "../ui/sentence-case.ts";
import { phoneBarCount } from "./navigation-pages.ts";
import { modifierKey } from "./platform-keys.ts";
import { signOut } from "./sign-out.ts";
import { useNavigationPages } from "./use-navigation-pages.ts";
import { useTheme } from "./use-theme.ts";

const entryClass =
  "flex h-12 flex-1 items-center justify-center rounded px-2 text-muted hover:bg-hover hover:text-text md:h-8 md:w-full md:flex-none md:justify-start";
const currentClass =
  "aria-[current=page]:font-semibold aria-[current=page]:text-text md:aria-[current=page]:bg-hover";
const footerClass =
  "flex h-8 w-full items-center rounded px-2 text-muted hover:bg-hover hover:text-text";

interface NavigationProps {
  onPalette(): void;
  onKeys(): void;
}

/** A sidebar; on a phone, a bar at the bottom with a menu for all that does not fit. */
export function Navigation({ onPalette, onKeys }: NavigationProps) {
  const pages = useNavigationPages();
  return (
    <nav
      aria-label="Pages"
      className="fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:sticky md:inset-x-auto md:top-0 md:h-dvh md:w-44 md:shrink-0 md:flex-col md:gap-0.5 md:overflow-y-auto md:border-t-0 md:border-r md:p-3"
    >
      <p className="hidden px-2 pb-3 text-md font-semibold md:block">herdctl</p>
      {pages.map(({ to, title, letter }, index) => (
        <Link
          key={to}
          to={to}
          title={`Shortcut: g ${letter}`}
          className={`${entryClass} ${currentClass} ${index >= phoneBarCount ? "max-md:hidden" : ""}`}
        >
          {title}
          {to === "/inbox" && <WaitingCount />}
        </Link>
      ))}
      <PhoneMenu />
      <div className="hidden md:mt-auto md:block">
        <button type="button" onClick={onPalette} className={footerClass}>
          Go to… <kbd className="ml-auto font-sans text-sm">{modifierKey}K</kbd>
        </button>
        <button type="button" onClick={onKeys} className={footerClass}>
          Shortcuts <kbd className="ml-auto font-sans text-sm">?</kbd>
        </button>
        <ThemeSwitch />
        <SignOutButton />
      </div>
    </nav>
  );
}

function PhoneMenu() {
  const pages = useNavigationPages().slice(phoneBarCount);
  const path = useLocation({ select: ({ pathname }) => pathname });
  const [isOpen, setOpen] = useState(false);
  const isCurrent = pages.some(({ to }) => to === path);
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        aria-current={isCurrent ? "page" : undefined}
        className={`${entryClass} ${currentClass} md:hidden`}
      >
        More
      </button>
      <Dialog open={isOpen} onOpenChange={setOpen} title="More">
        <ul className="flex flex-col">
          {pages.map(({ to, title }) => (
            <li key={to}>
              <Link to={to} onClick={() => setOpen(false)} className="block py-2.5 text-md">
                {title}
              </Link>
            </li>
          ))}
          <li className="mt-2 border-t border-line pt-2">
            <ThemeSwitch />
          </li>
          <li>
            <SignOutButton />
          </li>
        </ul>
      </Dialog>
    </>
  );
}

function SignOutButton() {
  return (
    <button type="button" onClick={() => void signOut()} className={footerClass}>
      Sign out
    </button>
  );
}

function ThemeSwitch() {
  const { theme, setNext } = useTheme();
  return (
    <button type="button" onClick={setNext} className={footerClass}>
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
