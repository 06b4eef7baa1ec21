import { classNames } from "./class-names.ts";

/** A placeholder in the size of the content, so that the layout does not shift. */
export function Skeleton({ className }: { className?: string }) {
  return <div className={classNames("animate-pulse rounded-sm bg-idle-soft", className)} />;
}

/** Placeholder lines of a list that is loading. */
export function Loading({ lines = 6 }: { lines?: number }) {
  const lineKeys = Array.from({ length: lines }, (_, index) => index);
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2 py-2">
      {lineKeys.map((key) => (
        <Skeleton key={key} className="h-8 w-full" />
      ))}
    </div>
  );
}
