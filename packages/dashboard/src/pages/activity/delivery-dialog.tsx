import { Link } from "@tanstack/react-router";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";

export function DeliveryDialog({ id, onClose }: { id: string; onClose(): void }) {
  const delivery = useFleetQuery("delivery", { params: { id } });
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Delivery" note={id}>
      {delivery.error && <ErrorNote error={delivery.error} />}
      {delivery.data ? <DeliveryContent delivery={delivery.data} onClose={onClose} /> : <Loading />}
    </Dialog>
  );
}

interface ContentProps {
  delivery: ResponseOfRoute<"delivery">;
  onClose(): void;
}

function DeliveryContent({ delivery, onClose }: ContentProps) {
  const readOnlyReason = useReadOnlyReason();
  const replay = useFleetMutation("replay");
  const { id, job_id, headers, body } = delivery;
  return (
    <div className="flex flex-col gap-3">
      <CodeBlock text={formatBody(body)} label="Body" />
      {Object.keys(headers).length > 0 && (
        <CodeBlock
          label="Headers"
          text={Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join("\n")}
        />
      )}
      {replay.error && <ErrorNote error={replay.error} />}
      {replay.data && (
        <p role="status">
          Replayed: {replay.data.job_id ? <JobLink id={replay.data.job_id} /> : replay.data.reason}
        </p>
      )}
      <div className="flex items-center justify-end gap-2">
        {job_id && (
          <span className="mr-auto">
            <JobLink id={job_id} />
          </span>
        )}
        <Button onClick={onClose}>Close</Button>
        <Button
          variant="main"
          disabledReason={readOnlyReason}
          disabled={replay.isPending}
          onClick={() => replay.mutate({ params: { id } })}
        >
          Replay
        </Button>
      </div>
    </div>
  );
}

function JobLink({ id }: { id: string }) {
  return (
    <Link to="/jobs/$jobId" params={{ jobId: id }} className="text-accent underline">
      View job
    </Link>
  );
}

function formatBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
