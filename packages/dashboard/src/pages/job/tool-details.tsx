import { visible } from "@herdctl/server/contract";
import type { ReactNode } from "react";
import type { ToolEntry } from "../../job/entry.ts";
import { textOf } from "../../job/fields.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { DiffView } from "../../ui/diff-view.tsx";

/** So much of an output is drawn; the raw events have all of it. */
const most = 200_000;

export function ToolDetails({ tool }: { tool: ToolEntry }) {
  const { result } = tool;
  const text = result?.text ?? "";
  return (
    <div className="flex flex-col gap-2 px-2 pb-2">
      {isInputShown(tool) && (
        <Part title="Input">
          <CodeBlock label="Input" text={inputWords(tool)} />
        </Part>
      )}
      {result?.diff && (
        <DiffView label={`Changes in ${result.diff.file}`} hunks={result.diff.hunks} />
      )}
      {result?.images.map(({ type, data }) => (
        <img
          key={data.slice(0, 64)}
          src={`data:${type};base64,${data}`}
          alt="What the tool gave back"
          className="max-h-80 max-w-full self-start rounded border border-line bg-sunken [image-rendering:auto]"
        />
      ))}
      {text !== "" && !result?.diff && (
        <Part title="Output">
          <CodeBlock label="Output" text={text.slice(0, most)} />
          {text.length > most && (
            <p className="text-sm text-muted">Only the beginning; the raw events have all of it.</p>
          )}
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <p className="mb-0.5 text-xs text-muted">{title}</p>
      {children}
    </div>
  );
}

/** What was changed, or is seen, says it better. */
function isInputShown({ input, result }: ToolEntry): boolean {
  return !result?.diff && result?.images.length !== 1 && Object.keys(input).length > 0;
}

/** A command as it was typed; anything else as JSON. */
function inputWords({ tool, input }: ToolEntry): string {
  const command = tool === "Bash" ? textOf(input.command) : "";
  return visible(command || JSON.stringify(input, null, 2));
}
