import type { ReactNode } from "react";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { useFleetMutation } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Table, Td, Th } from "../../ui/table.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import type { Tone } from "../../ui/tone.ts";

type HookRun = ResponseOfRoute<"hooks">["hooks"][number];

const toneByStatus: Record<HookRun["status"], Tone> = {
  due: "idle",
  running: "live",
  succeeded: "ok",
  failed: "bad",
};

interface HookListProps {
  hooks: readonly HookRun[];
  /** The job of a hook, where the hooks belong to several jobs. */
  renderJob?(hook: HookRun): ReactNode;
}

export function HookList({ hooks, renderJob }: HookListProps) {
  return (
    <Table label="Hooks">
      <thead>
        <tr>
          <Th>Status</Th>
          {renderJob && <Th>Job of</Th>}
          <Th>Hook</Th>
          <Th>Result</Th>
          <Th className="text-right">Attempts</Th>
          <Th className="text-right">When</Th>
          <Th className="text-right">
            <span className="sr-only">Actions</span>
          </Th>
        </tr>
      </thead>
      <tbody>
        {hooks.map((hook) => (
          <tr key={hook.id} className="hover:bg-hover">
            <Td>
              <Badge tone={toneByStatus[hook.status]}>{sentenceCase(hook.status)}</Badge>
            </Td>
            {renderJob && <Td className="whitespace-nowrap">{renderJob(hook)}</Td>}
            <Td className="text-sm whitespace-nowrap">
              <code>{`${hook.event}[${hook.position}]`}</code> {hook.type}
            </Td>
            <Td className="w-full min-w-48 text-sm wrap-anywhere">
              {hook.message ?? <span className="text-muted">–</span>}
              {hook.output !== null && hook.output.trim() !== "" && (
                <details>
                  <summary className="text-muted">Output</summary>
                  <pre className="max-h-60 overflow-auto font-mono text-sm whitespace-pre-wrap">
                    {hook.output}
                  </pre>
                </details>
              )}
            </Td>
            <Td className="text-right text-sm">{hook.attempts}</Td>
            <Td className="text-right text-sm whitespace-nowrap text-muted">
              <RelativeTime
                at={hook.finished_at ?? hook.due_at ?? hook.started_at ?? hook.created_at}
              />
            </Td>
            <Td className="text-right">
              {hook.status === "failed" && <RetryButton id={hook.id} />}
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function RetryButton({ id }: { id: string }) {
  const readOnlyReason = useReadOnlyReason();
  const { mutate, isPending, error } = useFleetMutation("retryHook");
  return (
    <Button
      size="small"
      disabledReason={readOnlyReason}
      disabled={isPending}
      title={error?.message}
      onClick={() => mutate({ params: { id } })}
    >
      Retry
    </Button>
  );
}
