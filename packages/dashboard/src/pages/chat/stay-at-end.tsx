import { type ReactNode, useEffect, useRef } from "react";

const nearEnd = 64;

/** What is added is seen by whoever reads the end; who reads further up is left alone. */
export function StayAtEnd({ label, children }: { label: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const [outer, inner] = [box.current, content.current];
    if (!outer || !inner) return undefined;
    const grown = new ResizeObserver(() => {
      if (isAtEnd.current) outer.scrollTop = outer.scrollHeight;
    });
    grown.observe(inner);
    return () => grown.disconnect();
  }, []);
  const look = () => {
    const { current } = box;
    if (!current) return;
    isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearEnd;
  };
  return (
    <div
      ref={box}
      onScroll={look}
      role="log"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
    >
      <div ref={content} className="mx-auto flex max-w-3xl flex-col gap-5 py-4">
        {children}
      </div>
    </div>
  );
}
