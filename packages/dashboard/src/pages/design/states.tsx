import { FleetError } from "../../api/fleet-error.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";

export function States() {
  return (
    <Panel title="Empty, on its way, wrong">
      <div className="grid items-start gap-4 md:grid-cols-3">
        <Empty title="No session yet">Its first run makes one.</Empty>
        <Loading lines={3} />
        <ErrorNote error={FleetError.unreachable()} />
      </div>
    </Panel>
  );
}
