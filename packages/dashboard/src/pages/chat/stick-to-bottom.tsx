import { type ReactNode, useEffect, useRef } from "react";

const bottomThresholdPx = 64;

/** Keeps the view at the bottom while content grows, unless the user has scrolled up. */
export function StickToBottom({ label, children }: { label: string; children: ReactNode }) {
  const scrollContainer = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const [outer, inner] = [scrollContainer.current, content.current];
    if (!outer || !inner) return undefined;
    const resizeObserver = new ResizeObserver(() => {
      if (isAtEnd.current) outer.scrollTop = outer.scrollHeight;
    });
    resizeObserver.observe(inner);
    return () => resizeObserver.disconnect();
  }, []);
  const updateIsAtEnd = () => {
    const { current } = scrollContainer;
    if (!current) return;
    isAtEnd.current =
      current.scrollHeight - current.scrollTop - current.clientHeight < bottomThresholdPx;
  };
  return (
    <div
      ref={scrollContainer}
      onScroll={updateIsAtEnd}
      role="log"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas need keyboard focus
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
    >
      <div ref={content} className="mx-auto flex max-w-3xl flex-col gap-5 py-4">
        {children}
      </div>
    </div>
  );
}
