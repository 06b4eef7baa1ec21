import type { ToolEntry } from "../../job/entry.ts";
import { gistOf, toolName } from "../../job/gist.ts";
import { Badge } from "../../ui/badge.tsx";
import { classNames } from "../../ui/class-names.ts";
import { durationWords } from "../../ui/quantities.ts";
import { ApprovalCard } from "../inbox/approval-card.tsx";
import { ForkHere } from "./fork-here.tsx";
import { useJobView } from "./job-view.ts";
import { ToolDetails } from "./tool-details.tsx";
import { ToolGlance } from "./tool-glance.tsx";

const opensByItself = 40;

export function ToolView({ tool, depth }: { tool: ToolEntry; depth: number }) {
  const { opened, open, asked, cwd } = useJobView();
  const approvals = asked.get(tool.key) ?? [];
  const isAsked = approvals.some(({ answer }) => answer === null);
  const isOpen = opened.get(`tool:${tool.key}`) ?? isUsuallyOpen(tool);
  const hasFailed = tool.result?.isError === true || tool.denied !== null;
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
        onClick={() => open(`tool:${tool.key}`, !isOpen)}
        className="flex w-full items-center gap-2 rounded px-2 py-1 text-left hover:bg-hover"
      >
        <span aria-hidden className="w-2.5 text-muted">
          {isOpen ? "▾" : "▸"}
        </span>
        <span className="shrink-0 font-medium">{toolName(tool.tool)}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-sm text-muted">
          {gistOf(tool, cwd)}
        </span>
        <State tool={tool} isAsked={isAsked} />
      </button>
      {isOpen ? <ToolDetails tool={tool} /> : <ToolGlance tool={tool} />}
      {tool.denied !== null && (
        <p className="px-2 pb-1.5 text-sm text-bad wrap-anywhere">Denied: {tool.denied}</p>
      )}
      {approvals.map((approval) => (
        <div key={approval.id} className="px-2 pb-2">
          <ApprovalCard approval={approval} isInPlace />
        </div>
      ))}
      {tool.children.length > 0 && <Subagent tool={tool} />}
      {depth === 0 && <ForkHere uuid={tool.result?.uuid ?? null} />}
    </div>
  );
}

/** What changed is why one looks; a long change is folded like the rest. */
function isUsuallyOpen({ result }: ToolEntry): boolean {
  const lines = result?.diff?.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) ?? 0;
  return (lines > 0 && lines <= opensByItself) || (result?.images.length ?? 0) > 0;
}

function State({ tool, isAsked }: { tool: ToolEntry; isAsked: boolean }) {
  const { job } = useJobView();
  const { at, endedAt, result, task } = tool;
  const isOver = job.finished_at !== null;
  const goesOn = !isOver && (result === null || (task?.isBackground && task.status === "running"));
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-sm text-muted">
      {task?.isBackground && <Badge>background</Badge>}
      {isAsked && <Badge tone="wait">asks</Badge>}
      {goesOn && !isAsked && (
        <Badge tone="live">{tool.isOpen ? "writing" : task?.doing || "running"}</Badge>
      )}
      {result === null && isOver && <Badge>no answer</Badge>}
      {result?.isError && <Badge tone="bad">failed</Badge>}
      {at !== null && endedAt !== null && durationWords((endedAt - at) / 1000)}
    </span>
  );
}

function Subagent({ tool }: { tool: ToolEntry }) {
  const { opened, open } = useJobView();
  const isOpen = opened.get(tool.key) ?? (tool.endedAt === null || tool.descendants <= 12);
  const tokens = tool.task?.tokens;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={() => open(tool.key, !isOpen)}
      className="flex w-full gap-2 border-t border-line px-2 py-1 text-left text-sm text-muted hover:bg-hover hover:text-text"
    >
      <span aria-hidden className="w-2.5">
        {isOpen ? "▾" : "▸"}
      </span>
      {isOpen ? "Subagent" : `Subagent: ${tool.descendants} entries`}
      {tokens ? ` · ${tokens} tokens` : ""}
    </button>
  );
}
