import type { NodeView } from "@herdctl/server/contract";
import { useAnswer } from "../../api/queries.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Panel } from "../../ui/panel.tsx";
import { WithCode } from "../../ui/with-code.tsx";
import { NodeTable } from "./node-table.tsx";
import { inOrder, isSkewed, sumOf } from "./node-words.ts";

/** Nodes beat every two seconds, and no event tells of it. */
const lookEvery = 2_000;

export function NodesPage() {
  const { data: status } = useAnswer("status");
  const nodes = useAnswer("nodes", {}, { refetchInterval: lookEvery });
  const found = nodes.data?.nodes;
  const isShared = status?.fleet.shared ?? false;
  return (
    <>
      <PageHead title="Nodes" note="The machines that run this fleet together" />
      {nodes.error && <ErrorNote error={nodes.error} onRetry={nodes.refetch} />}
      {status && found ? (
        isShared ? (
          <Together nodes={inOrder(found)} />
        ) : (
          <Alone />
        )
      ) : (
        !nodes.error && <Loading lines={4} />
      )}
    </>
  );
}

function Together({ nodes }: { nodes: NodeView[] }) {
  const { live, running, capacity } = sumOf(nodes);
  return (
    <>
      <Panel
        title={`${live} live`}
        aside={`${running} of ${capacity} places for jobs are taken`}
        flush
      >
        <NodeTable nodes={nodes} />
      </Panel>
      <Warnings nodes={nodes} />
    </>
  );
}

function Warnings({ nodes }: { nodes: NodeView[] }) {
  const { versions } = sumOf(nodes);
  const skewed = nodes.filter(isSkewed).map(({ name }) => name);
  const others = nodes.filter((node) => node.status === "live" && !node.config_in_force);
  const warnings = [
    ...(versions.length > 1 ? [`Versions differ: ${versions.join(", ")}.`] : []),
    ...skewed.map((name) => `The clock of ${name} is wrong: set it by a time server.`),
    ...others.map(({ name }) => `${name} has read other files: give it the same configuration.`),
  ];
  if (warnings.length === 0) return null;
  return (
    <ul className="mt-3 flex flex-col gap-1 text-sm text-warn">
      {warnings.map((words) => (
        <li key={words}>{words}</li>
      ))}
    </ul>
  );
}

function Alone() {
  return (
    <Empty title="This fleet runs on one machine">
      <WithCode text="Its state is its own. Several machines run a fleet together by a PostgreSQL that they share: write `store: ${HERDCTL_STORE}` into the fleet file, and move what there is with `herdctl store migrate`." />
    </Empty>
  );
}
