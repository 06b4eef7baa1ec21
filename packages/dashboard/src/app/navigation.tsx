import { Link } from "@tanstack/react-router";
import { useAnswer } from "../api/queries.ts";
import { places } from "./places.ts";

export function Navigation() {
  return (
    <nav
      aria-label="Pages"
      className="fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-surface md:sticky md:top-0 md:h-dvh md:w-48 md:flex-col md:gap-0.5 md:border-t-0 md:border-r md:p-3"
    >
      <p className="hidden px-2 pb-3 text-md font-semibold md:block">herdctl</p>
      {places.map(({ to, title }) => (
        <Link
          key={to}
          to={to}
          className="flex h-12 flex-1 items-center justify-center rounded px-2 text-muted hover:bg-hover hover:text-text aria-[current=page]:font-semibold aria-[current=page]:text-text md:h-8 md:flex-none md:justify-start md:aria-[current=page]:bg-hover"
        >
          {title}
          {to === "/inbox" && <Waiting />}
        </Link>
      ))}
    </nav>
  );
}

function Waiting() {
  const { data } = useAnswer("approvals");
  const count = data?.approvals.length ?? 0;
  if (count === 0) return null;
  return (
    <span className="ml-1.5 min-w-5 rounded-full bg-wait-soft px-1.5 text-center text-sm font-semibold text-wait md:ml-auto">
      {count}
      <span className="sr-only"> waiting for you</span>
    </span>
  );
}
