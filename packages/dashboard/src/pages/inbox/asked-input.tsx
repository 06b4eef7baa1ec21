import { structuredPatch } from "diff";
import { fieldsOf, textOf } from "../../job/fields.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { DiffView } from "../../ui/diff-view.tsx";

/** Exactly what would be done: a command as it is, a change as a change, anything else as JSON. */
export function AskedInput({ tool, input }: { tool: string; input: unknown }) {
  const fields = fieldsOf(input);
  const path = textOf(fields.file_path);
  if (tool === "Bash")
    return (
      <div className="mb-3">
        {textOf(fields.description) !== "" && (
          <p className="mb-1 text-sm text-muted">{textOf(fields.description)}</p>
        )}
        <CodeBlock label="Command" text={textOf(fields.command)} />
      </div>
    );
  if (typeof fields.old_string === "string" && typeof fields.new_string === "string")
    return <Change path={path} before={fields.old_string} after={fields.new_string} />;
  if (tool === "Write" && typeof fields.content === "string")
    return <Change path={path} before="" after={fields.content} />;
  return (
    <div className="mb-3">
      <CodeBlock label="Input" text={JSON.stringify(input, null, 2)} />
    </div>
  );
}

function Change({ path, before, after }: { path: string; before: string; after: string }) {
  const { hunks } = structuredPatch(path, path, before, after, undefined, undefined, {
    context: 3,
  });
  const lines = hunks.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.filter((line) => !line.startsWith("\\")),
  }));
  return (
    <div className="mb-3">
      <p className="mb-1 font-mono text-sm wrap-anywhere">{path}</p>
      <DiffView label={`Changes in ${path}`} hunks={lines} />
    </div>
  );
}
