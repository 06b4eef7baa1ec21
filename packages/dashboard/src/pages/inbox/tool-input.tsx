import { CodeBlock } from "../../ui/code-block.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { splitToolInput } from "./split-tool-input.ts";

/** The whole input of a tool: file changes as a diff, and all other fields by name. */
export function ToolInput({ tool, input }: { tool: string; input: unknown }) {
  const { change, fields } = splitToolInput(tool, input);
  return (
    <div className="mb-3 flex flex-col gap-2">
      {change && (
        <div>
          <p className="mb-1 font-mono text-sm whitespace-pre-wrap wrap-anywhere">{change.path}</p>
          <DiffView label={`Changes in ${change.path}`} hunks={change.hunks} />
        </div>
      )}
      {fields.map(([name, text]) => (
        <div key={name}>
          <p className="mb-0.5 font-mono text-xs text-muted wrap-anywhere">{name}</p>
          <CodeBlock label={name} text={text} />
        </div>
      ))}
      {!change && fields.length === 0 && <p className="text-sm text-muted">No input.</p>}
    </div>
  );
}
