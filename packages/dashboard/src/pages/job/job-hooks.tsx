import { useFleetQuery } from "../../api/queries.ts";
import { formatCountOf } from "../../ui/format-quantities.ts";
import { HookList } from "../hooks/hook-list.tsx";

/** The hooks that ran after the job. Open if one of them failed. */
export function JobHooks({ jobId }: { jobId: string }) {
  const { data } = useFleetQuery("hooks", { query: { job: jobId } });
  const hooks = data?.hooks ?? [];
  if (hooks.length === 0) return null;
  const failedCount = hooks.filter(({ status }) => status === "failed").length;
  const retriedCount = hooks.filter(
    ({ status, attempts }) => status === "due" && attempts > 0,
  ).length;
  return (
    <details open={failedCount > 0} className="rounded border border-line bg-surface">
      <summary className="px-3 py-1.5">
        {formatCountOf(hooks.length, "hook")}
        {failedCount > 0 && <span className="font-medium text-bad">, {failedCount} failed</span>}
        {retriedCount > 0 && <span className="text-warn">, {retriedCount} to be retried</span>}
      </summary>
      <div className="max-h-60 overflow-y-auto">
        <HookList hooks={hooks} />
      </div>
    </details>
  );
}
