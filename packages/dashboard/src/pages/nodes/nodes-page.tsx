import type { NodeView } from "@herdctl/server/contract";
import { useFleetQuery } from "../../api/queries.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { isSkewed, sortNodes, sumNodes } from "./node-state.ts";
import { NodeTable } from "./node-table.tsx";

/** Nodes send heartbeats every two seconds, without an event. */
const pollIntervalMs = 2_000;

export function NodesPage() {
  const { data: status } = useFleetQuery("status");
  const nodes = useFleetQuery("nodes", {}, { refetchInterval: pollIntervalMs });
  const nodeViews = nodes.data?.nodes;
  const isShared = status?.fleet.shared ?? false;
  return (
    <>
      <PageHeader title="Nodes" note="Machines that run this fleet" />
      {nodes.error && <ErrorNote error={nodes.error} onRetry={nodes.refetch} />}
      {status && nodeViews ? (
        isShared ? (
          <ClusterView nodes={sortNodes(nodeViews)} />
        ) : (
          <SingleMachineNote />
        )
      ) : (
        !nodes.error && <Loading lines={4} />
      )}
    </>
  );
}

function ClusterView({ nodes }: { nodes: NodeView[] }) {
  const { live, running, capacity } = sumNodes(nodes);
  return (
    <>
      <Panel
        title={`${live} live ${live === 1 ? "node" : "nodes"}`}
        aside={`${running} of ${capacity} job slots in use`}
        flush
      >
        <NodeTable nodes={nodes} />
      </Panel>
      <NodeWarnings nodes={nodes} />
    </>
  );
}

function NodeWarnings({ nodes }: { nodes: NodeView[] }) {
  const { versions } = sumNodes(nodes);
  const skewed = nodes.filter(isSkewed).map(({ name }) => name);
  const outdatedNodes = nodes.filter((node) => node.status === "live" && !node.config_current);
  const warnings = [
    ...(versions.length > 1 ? [`Versions differ: ${versions.join(", ")}.`] : []),
    ...skewed.map((name) => `The clock of ${name} is off. Synchronize it with a time server.`),
    ...outdatedNodes.map(
      ({ name }) => `${name} has a different configuration. Deploy the fleet's files to it.`,
    ),
  ];
  if (warnings.length === 0) return null;
  return (
    <ul className="mt-3 flex flex-col gap-1 text-sm text-warn">
      {warnings.map((warning) => (
        <li key={warning}>{warning}</li>
      ))}
    </ul>
  );
}

function SingleMachineNote() {
  return (
    <EmptyState title="This fleet runs on one machine">
      <TextWithCode text="To run it on several machines, use a shared PostgreSQL database: set `store: ${HERDCTL_STORE}` in the fleet file and move the existing state with `herdctl store migrate`." />
    </EmptyState>
  );
}
