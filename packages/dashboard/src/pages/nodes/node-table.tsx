import type { NodeView } from "@herdctl/server/contract";
import { Badge } from "../../ui/badge.tsx";
import { formatAgo } from "../../ui/format-quantities.ts";
import { Meter } from "../../ui/meter.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";
import { formatSkew, isSkewed, toNodeState } from "./node-state.ts";

export function NodeTable({ nodes }: { nodes: NodeView[] }) {
  return (
    <Table label="Nodes of the fleet">
      <thead>
        <tr>
          <Th>Node</Th>
          <Th>State</Th>
          <Th>Role</Th>
          <Th className="w-48">Jobs</Th>
          <Th className="text-right">Last heartbeat</Th>
          <Th className="text-right">Clock</Th>
          <Th>Version</Th>
          <Th>Labels</Th>
        </tr>
      </thead>
      <tbody>
        {nodes.map((node) => (
          <Row key={node.id} node={node} />
        ))}
      </tbody>
    </Table>
  );
}

function Row({ node }: { node: NodeView }) {
  const { label, tone, explanation } = toNodeState(node);
  const isLive = node.status === "live";
  return (
    <tr className={isLive ? "hover:bg-hover" : "text-muted hover:bg-hover"}>
      <Td className="whitespace-nowrap">
        <span className="font-medium">{node.name}</span>
        {node.self && <span className="text-sm text-muted"> · this node</span>}
      </Td>
      <Td>
        <Badge tone={tone} title={explanation}>
          {label}
        </Badge>
      </Td>
      <Td className="whitespace-nowrap">
        {node.role}
        {node.leader && (
          <span className="ml-2">
            <Badge tone="live" title="Runs hooks, chats and work sources for the whole fleet">
              Leader
            </Badge>
          </span>
        )}
      </Td>
      <Td className="whitespace-nowrap">
        <Load node={node} />
      </Td>
      <Td className="text-right whitespace-nowrap" title={node.heartbeat_at}>
        {/* Computed by the database: the browser's clock may differ. */}
        {formatAgo(0, node.seconds_since_heartbeat * 1_000)}
      </Td>
      <Td
        className={`text-right whitespace-nowrap ${isSkewed(node) ? "font-medium text-warn" : ""}`}
      >
        {formatSkew(node)}
      </Td>
      <Td className="whitespace-nowrap">{node.version}</Td>
      <Td className="whitespace-nowrap">{node.labels.join(", ") || "–"}</Td>
    </tr>
  );
}

function Load({ node: { name, status, role, running, capacity } }: { node: NodeView }) {
  if (status !== "live") return "–";
  if (role === "control") return "Runs no jobs";
  return (
    <div className="grid grid-cols-[auto_minmax(3rem,1fr)] items-center gap-3">
      <span>
        {running} of {capacity}
      </span>
      <Meter
        label={`Load of ${name}`}
        value={capacity === 0 ? 0 : running / capacity}
        isFull={running >= capacity}
      />
    </div>
  );
}
