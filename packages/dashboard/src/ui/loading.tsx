import { classNames } from "./class-names.ts";

/** The place of what is to come, in its size, so that nothing jumps when it comes. */
export function Skeleton({ className }: { className?: string }) {
  return <div className={classNames("animate-pulse rounded-sm bg-idle-soft", className)} />;
}

/** Lines of a list that is on its way. */
export function Loading({ lines = 6 }: { lines?: number }) {
  const places = Array.from({ length: lines }, (_, index) => index);
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2 py-2">
      {places.map((place) => (
        <Skeleton key={place} className="h-8 w-full" />
      ))}
    </div>
  );
}
