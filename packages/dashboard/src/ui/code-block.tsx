import { CopyButton } from "./copy-button.tsx";

interface CodeBlockProps {
  text: string;
  /** Accessible name. */
  label: string;
}

export function CodeBlock({ text, label }: CodeBlockProps) {
  return (
    <div className="relative">
      <section
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas need keyboard focus
        tabIndex={0}
        className="max-h-96 overflow-auto rounded border border-line bg-sunken p-2 pr-16"
      >
        <pre className="font-mono text-sm whitespace-pre-wrap wrap-anywhere">{text}</pre>
      </section>
      <div className="absolute top-1 right-1">
        <CopyButton text={text} />
      </div>
    </div>
  );
}
