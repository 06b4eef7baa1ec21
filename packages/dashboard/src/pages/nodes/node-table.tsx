import type { NodeView } from "@herdctl/server/contract";
import { Badge } from "../../ui/badge.tsx";
import { agoWords } from "../../ui/quantities.ts";
import { Share } from "../../ui/share.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";
import { isSkewed, skewWords, stateOf } from "./node-words.ts";

export function NodeTable({ nodes }: { nodes: NodeView[] }) {
  return (
    <Table label="Nodes of the fleet">
      <thead>
        <tr>
          <Th>node</Th>
          <Th>state</Th>
          <Th>role</Th>
          <Th className="w-48">jobs</Th>
          <Th className="text-right">heard of</Th>
          <Th className="text-right">clock</Th>
          <Th>version</Th>
          <Th>labels</Th>
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
  const { words, tone, why } = stateOf(node);
  const isLive = node.status === "live";
  return (
    <tr className={isLive ? "hover:bg-hover" : "text-muted hover:bg-hover"}>
      <Td className="whitespace-nowrap">
        <span className="font-medium">{node.name}</span>
        {node.here && <span className="text-sm text-muted"> · this one</span>}
      </Td>
      <Td>
        <Badge tone={tone} title={why}>
          {words}
        </Badge>
      </Td>
      <Td className="whitespace-nowrap">
        {node.role}
        {node.lead && (
          <span className="ml-2">
            <Badge tone="live" title="Runs hooks, chats and work sources for the whole fleet">
              leads
            </Badge>
          </span>
        )}
      </Td>
      <Td className="whitespace-nowrap">
        <Load node={node} />
      </Td>
      <Td className="text-right whitespace-nowrap" title={node.heartbeat_at}>
        {/* Told by one clock, the database's: the browser's may be another. */}
        {agoWords(0, node.seconds_since_beat * 1_000)}
      </Td>
      <Td
        className={`text-right whitespace-nowrap ${isSkewed(node) ? "font-medium text-warn" : ""}`}
      >
        {skewWords(node)}
      </Td>
      <Td className="whitespace-nowrap">{node.version}</Td>
      <Td className="whitespace-nowrap">{node.labels.join(", ") || "–"}</Td>
    </tr>
  );
}

function Load({ node: { name, status, role, running, capacity } }: { node: NodeView }) {
  if (status !== "live") return "–";
  if (role === "control") return "runs none";
  return (
    <div className="grid grid-cols-[auto_minmax(3rem,1fr)] items-center gap-3">
      <span>
        {running} of {capacity}
      </span>
      <Share
        label={`Load of ${name}`}
        value={capacity === 0 ? 0 : running / capacity}
        isFull={running >= capacity}
      />
    </div>
  );
}
