import type { ToolEntry } from "../../transcript/entry.ts";
import { formatToolName, summarizeToolCall } from "../../transcript/summarize-tool-call.ts";
import { Badge } from "../../ui/badge.tsx";
import { classNames } from "../../ui/class-names.ts";
import { formatCountOf, formatDuration } from "../../ui/format-quantities.ts";
import { ApprovalCard } from "../inbox/approval-card.tsx";
import { isHit } from "./folded-text.tsx";
import { ForkButton } from "./fork-button.tsx";
import { useJobView } from "./job-view-context.ts";
import { ToolDetails } from "./tool-details.tsx";
import { ToolResultPreview } from "./tool-result-preview.tsx";

const maxAutoOpenLines = 40;

export function ToolView({ tool, depth }: { tool: ToolEntry; depth: number }) {
  const { foldingOverrides, setOpen, approvalsByTool, cwd, searchText } = useJobView();
  const approvals = approvalsByTool.get(tool.key) ?? [];
  const isWaiting = approvals.some(({ answer }) => answer === null);
  const isOpen = foldingOverrides.get(`tool:${tool.key}`) ?? isOpenByDefault(tool, searchText);
  const hasFailed = tool.result?.isError === true || tool.deniedReason !== null;
  return (
    <div
      className={classNames(
        "group relative rounded border bg-surface",
        hasFailed ? "border-bad" : "border-line",
      )}
    >
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(`tool:${tool.key}`, !isOpen)}
        className="flex w-full items-center gap-2 rounded px-2 py-1 text-left hover:bg-hover"
      >
        <span aria-hidden className="w-2.5 text-muted">
          {isOpen ? "▾" : "▸"}
        </span>
        <span className="shrink-0 font-medium">{formatToolName(tool.tool)}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-sm text-muted">
          {summarizeToolCall(tool, cwd)}
        </span>
        <ToolState tool={tool} isWaiting={isWaiting} />
      </button>
      {isOpen ? <ToolDetails tool={tool} /> : <ToolResultPreview tool={tool} />}
      {tool.deniedReason !== null && (
        <p className="px-2 pb-1.5 text-sm text-bad wrap-anywhere">Denied: {tool.deniedReason}</p>
      )}
      {approvals.map((approval) => (
        <div key={approval.id} className="px-2 pb-2">
          <ApprovalCard approval={approval} isInline />
        </div>
      ))}
      {tool.children.length > 0 && <SubagentToggle tool={tool} />}
      {depth === 0 && <ForkButton uuid={tool.result?.uuid ?? null} />}
    </div>
  );
}

/** Short diffs and images are open by default, and so is what a search has found. */
function isOpenByDefault({ input, result }: ToolEntry, searchText: string): boolean {
  if (isHit(`${JSON.stringify(input)} ${result?.text ?? ""}`, searchText)) return true;
  const lines = result?.diff?.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) ?? 0;
  return (lines > 0 && lines <= maxAutoOpenLines) || (result?.images.length ?? 0) > 0;
}

function ToolState({ tool, isWaiting }: { tool: ToolEntry; isWaiting: boolean }) {
  const { job } = useJobView();
  const { at, endedAt, result, task } = tool;
  const isJobFinished = job.finished_at !== null;
  const isRunning =
    !isJobFinished && (result === null || (task?.isBackground && task.status === "running"));
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-sm text-muted">
      {task?.isBackground && <Badge>Background</Badge>}
      {isWaiting && <Badge tone="wait">Waiting for an answer</Badge>}
      {isRunning && !isWaiting && (
        <Badge tone="live">{tool.isStreaming ? "Writing" : task?.activity || "Running"}</Badge>
      )}
      {result === null && isJobFinished && <Badge>No result</Badge>}
      {result?.isError && <Badge tone="bad">Failed</Badge>}
      {at !== null && endedAt !== null && formatDuration((endedAt - at) / 1000)}
    </span>
  );
}

function SubagentToggle({ tool }: { tool: ToolEntry }) {
  const { foldingOverrides, setOpen } = useJobView();
  const isOpen =
    foldingOverrides.get(tool.key) ?? (tool.endedAt === null || tool.descendants <= 12);
  const tokens = tool.task?.tokens;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={() => setOpen(tool.key, !isOpen)}
      className="flex w-full gap-2 border-t border-line px-2 py-1 text-left text-sm text-muted hover:bg-hover hover:text-text"
    >
      <span aria-hidden className="w-2.5">
        {isOpen ? "▾" : "▸"}
      </span>
      {isOpen ? "Subagent" : `Subagent: ${formatCountOf(tool.descendants, "entry", "entries")}`}
      {tokens ? ` · ${formatCountOf(tokens, "token")}` : ""}
    </button>
  );
}
