import ReactMarkdown, { type Components } from "react-markdown";
import gfm from "remark-gfm";

const plugins = [gfm];

/** Untrusted text of agents: HTML is not rendered and images are not fetched. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="wrap-anywhere">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener" className="text-accent underline">
      {children}
    </a>
  ),
  img: ({ alt, src }) => <span className="text-muted">[image: {alt || String(src)}]</span>,
  h1: ({ children }) => <p className="mt-3 mb-1 text-md font-semibold">{children}</p>,
  h2: ({ children }) => <p className="mt-3 mb-1 text-md font-semibold">{children}</p>,
  h3: ({ children }) => <p className="mt-2 mb-1 font-semibold">{children}</p>,
  p: ({ children }) => <p className="my-1.5 first:mt-0 last:mb-0">{children}</p>,
  ul: ({ children }) => <ul className="my-1.5 list-disc pl-5">{children}</ul>,
  ol: ({ children }) => <ol className="my-1.5 list-decimal pl-5">{children}</ol>,
  blockquote: ({ children }) => (
    <blockquote className="my-1.5 border-l-2 border-line-strong pl-3 text-muted">
      {children}
    </blockquote>
  ),
  pre: ({ children }) => (
    <pre className="my-1.5 overflow-x-auto rounded border border-line bg-sunken p-2 font-mono text-sm">
      {children}
    </pre>
  ),
  code: ({ children }) => <code className="font-mono text-[0.92em]">{children}</code>,
  table: ({ children }) => <table className="my-1.5 border-collapse text-sm">{children}</table>,
  th: ({ children }) => <th className="border border-line px-2 py-1 text-left">{children}</th>,
  td: ({ children }) => <td className="border border-line px-2 py-1">{children}</td>,
};
