import { escapeInvisible } from "@herdctl/server/contract";
import type { ReactNode } from "react";
import type { ToolEntry } from "../../transcript/entry.ts";
import { toText } from "../../transcript/unknown-fields.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { DiffView } from "../../ui/diff-view.tsx";

/** The most output to render. The raw events have all of it. */
const maxChars = 200_000;

export function ToolDetails({ tool }: { tool: ToolEntry }) {
  const { result } = tool;
  const text = result?.text ?? "";
  return (
    <div className="flex flex-col gap-2 px-2 pb-2">
      {isInputShown(tool) && (
        <Section title="Input">
          <CodeBlock label="Input" text={formatInput(tool)} />
        </Section>
      )}
      {result?.diff && (
        <DiffView label={`Changes in ${result.diff.file}`} hunks={result.diff.hunks} />
      )}
      {result?.images.map(({ type, data }) => (
        <img
          key={data.slice(0, 64)}
          src={`data:${type};base64,${data}`}
          alt="Returned by the tool"
          className="max-h-80 max-w-full self-start rounded border border-line bg-sunken [image-rendering:auto]"
        />
      ))}
      {text !== "" && !result?.diff && (
        <Section title="Output">
          <CodeBlock label="Output" text={text.slice(0, maxChars)} />
          {text.length > maxChars && (
            <p className="text-sm text-muted">Truncated. The raw events have the full output.</p>
          )}
        </Section>
      )}
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <p className="mb-0.5 text-xs text-muted">{title}</p>
      {children}
    </div>
  );
}

/** A diff or a single image replaces the input. */
function isInputShown({ input, result }: ToolEntry): boolean {
  return !result?.diff && result?.images.length !== 1 && Object.keys(input).length > 0;
}

/** Shell commands as text, any other input as JSON. */
function formatInput({ tool, input }: ToolEntry): string {
  const command = tool === "Bash" ? toText(input.command) : "";
  return escapeInvisible(command || JSON.stringify(input, null, 2));
}
