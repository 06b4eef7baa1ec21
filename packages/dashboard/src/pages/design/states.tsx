import { FleetError } from "../../api/fleet-error.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";

export function States() {
  return (
    <Panel title="Empty, loading and error states">
      <div className="grid items-start gap-4 md:grid-cols-3">
        <EmptyState title="No sessions yet">The agent's first run creates one.</EmptyState>
        <Loading lines={3} />
        <ErrorNote error={FleetError.unreachable()} />
      </div>
    </Panel>
  );
}
