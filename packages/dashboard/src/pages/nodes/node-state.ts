import type { NodeView } from "@herdctl/server/contract";
import { formatDuration } from "../../ui/format-quantities.ts";
import type { Tone } from "../../ui/tone.ts";

/** Clock skew above this is shown as a warning. */
const maxSkewMs = 1_000;

interface NodeState {
  label: string;
  tone: Tone;
  /** Tooltip. */
  explanation: string;
}

export function toNodeState({ status, config_current }: NodeView): NodeState {
  if (status === "left")
    return { label: "Stopped", tone: "idle", explanation: "The node was stopped" };
  if (status === "lost")
    return {
      label: "Lost",
      tone: "bad",
      explanation: "No heartbeat: other nodes took over its jobs",
    };
  return config_current
    ? { label: "Live", tone: "ok", explanation: "The node sends heartbeats" }
    : {
        label: "Different configuration",
        tone: "warn",
        explanation: "The node's configuration differs from the fleet's, so it takes no new jobs",
      };
}

export function formatSkew({ status, clock_skew_ms: skew }: NodeView): string {
  if (status !== "live" || skew === null) return "–";
  if (Math.abs(skew) < 10) return "In sync";
  return `${formatDuration(Math.abs(skew) / 1_000)} ${skew > 0 ? "fast" : "slow"}`;
}

export function isSkewed({ status, clock_skew_ms: skew }: NodeView): boolean {
  return status === "live" && skew !== null && Math.abs(skew) >= maxSkewMs;
}

/** Live nodes first, otherwise in the order they joined. */
export function sortNodes(nodes: readonly NodeView[]): NodeView[] {
  const rank = ({ status }: NodeView) => (status === "live" ? 0 : 1);
  return nodes.toSorted((a, b) => rank(a) - rank(b));
}

export interface NodeTotals {
  live: number;
  running: number;
  capacity: number;
  versions: string[];
}

export function sumNodes(nodes: readonly NodeView[]): NodeTotals {
  const live = nodes.filter(({ status }) => status === "live");
  const workers = live.filter(({ role }) => role !== "control");
  return {
    live: live.length,
    running: workers.reduce((sum, { running }) => sum + running, 0),
    capacity: workers.reduce((sum, { capacity }) => sum + capacity, 0),
    versions: [...new Set(live.map(({ version }) => version))],
  };
}
