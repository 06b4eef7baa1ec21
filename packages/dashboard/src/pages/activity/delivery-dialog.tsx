import { Link } from "@tanstack/react-router";
import { useReadOnly } from "../../api/access.ts";
import type { Answer } from "../../api/ask.ts";
import { useAnswer, useTell } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";

export function DeliveryDialog({ id, onClose }: { id: string; onClose(): void }) {
  const delivery = useAnswer("delivery", { params: { id } });
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Delivery" note={id}>
      {delivery.error && <ErrorNote error={delivery.error} />}
      {delivery.data ? <Content delivery={delivery.data} onClose={onClose} /> : <Loading />}
    </Dialog>
  );
}

interface ContentProps {
  delivery: Answer<"delivery">;
  onClose(): void;
}

function Content({ delivery, onClose }: ContentProps) {
  const readOnly = useReadOnly();
  const replay = useTell("replay");
  const { id, job_id, headers, body } = delivery;
  return (
    <div className="flex flex-col gap-3">
      <CodeBlock text={readable(body)} label="Body" />
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
          Taken once more:{" "}
          {replay.data.job_id ? <ToJob id={replay.data.job_id} /> : replay.data.reason}
        </p>
      )}
      <div className="flex items-center justify-end gap-2">
        {job_id && (
          <span className="mr-auto">
            <ToJob id={job_id} />
          </span>
        )}
        <Button onClick={onClose}>Close</Button>
        <Button
          look="main"
          obstacle={readOnly}
          disabled={replay.isPending}
          onClick={() => replay.mutate({ params: { id } })}
        >
          Replay
        </Button>
      </div>
    </div>
  );
}

function ToJob({ id }: { id: string }) {
  return (
    <Link to="/jobs/$jobId" params={{ jobId: id }} className="text-accent underline">
      Its job
    </Link>
  );
}

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
