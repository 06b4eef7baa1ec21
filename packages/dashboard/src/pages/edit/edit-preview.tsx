import { structuredPatch } from "diff";
import { useMemo } from "react";
import { DiffView } from "../../ui/diff-view.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Panel } from "../../ui/panel.tsx";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { Time } from "../../ui/time.tsx";
import { timeFormats } from "../../ui/time-formats.ts";
import type { EditPreview } from "./use-edit.ts";

interface EditPreviewPanelProps {
  preview: EditPreview | undefined;
  error: unknown;
  /** Paths of the fields that show their problems themselves. */
  shownPaths: ReadonlySet<string>;
}

/** The lines that would be written, what is wrong with them, and when schedules would be due. */
export function EditPreviewPanel({ preview, error, shownPaths }: EditPreviewPanelProps) {
  const others = preview?.problems.filter(({ path }) => !shownPaths.has(path)) ?? [];
  return (
    <Panel title="Changes" aside={preview && <code className="text-sm">{preview.file}</code>}>
      {error != null && <ErrorNote error={error} />}
      {!preview && error == null && (
        <p className="text-muted">Changes appear here before they are written to the file.</p>
      )}
      {preview && <Diff preview={preview} />}
      {others.map(({ path, message, hint, line }) => (
        <p key={`${path} ${line} ${message}`} role="alert" className="mt-2 text-sm text-bad">
          {path !== "" && <code>{path}: </code>}
          <TextWithCode text={`${message}. ${hint}`} />
        </p>
      ))}
      {preview?.next.map(({ schedule, due_at }) => (
        <section key={schedule} aria-label={`Next due times of ${schedule}`} className="mt-3">
          <h3 className="text-sm font-medium">Next due times of {schedule}</h3>
          <ol className="text-sm text-muted">
            {due_at.map((at) => (
              <li key={at}>
                <Time at={at} style={timeFormats.exact} />
              </li>
            ))}
          </ol>
          {due_at.length === 0 && <p className="text-sm text-muted">None.</p>}
          {due_at.length === 1 && (
            <p className="text-sm text-muted">Later ones depend on the end of this run.</p>
          )}
        </section>
      ))}
    </Panel>
  );
}

function Diff({ preview: { before, after, first_line } }: { preview: EditPreview }) {
  const hunks = useMemo(() => {
    const offset = first_line - 1;
    const patch = structuredPatch("", "", before.join("\n"), after.join("\n"), "", "", {
      context: 3,
    });
    return patch.hunks.map((hunk) => ({
      oldStart: hunk.oldStart + offset,
      newStart: hunk.newStart + offset,
      lines: hunk.lines.filter((line) => !line.startsWith("\\")),
    }));
  }, [before, after, first_line]);
  if (hunks.length === 0) return <p className="text-muted">No changes.</p>;
  return <DiffView label="Changes to the file" hunks={hunks} />;
}
