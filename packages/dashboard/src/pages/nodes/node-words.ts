import type { NodeView } from "@herdctl/server/contract";
import { durationWords } from "../../ui/quantities.ts";
import type { Tone } from "../../ui/tone.ts";

/** Beyond this a clock is wrong enough to be told. */
const tellSkew = 1_000;

interface State {
  words: string;
  tone: Tone;
  /** For whoever points at it. */
  why: string;
}

export function stateOf({ status, config_in_force }: NodeView): State {
  if (status === "left") return { words: "stopped", tone: "idle", why: "It has been stopped" };
  if (status === "lost")
    return { words: "lost", tone: "bad", why: "It has not been heard of: others took its jobs" };
  return config_in_force
    ? { words: "live", tone: "ok", why: "It takes part" }
    : {
        words: "other configuration",
        tone: "warn",
        why: "It has read other files than the fleet runs by, and takes no new jobs",
      };
}

export function skewWords({ status, skew_ms: skew }: NodeView): string {
  if (status !== "live" || skew === null) return "–";
  if (Math.abs(skew) < 10) return "right";
  return `${durationWords(Math.abs(skew) / 1_000)} ${skew > 0 ? "fast" : "slow"}`;
}

export function isSkewed({ status, skew_ms: skew }: NodeView): boolean {
  return status === "live" && skew !== null && Math.abs(skew) >= tellSkew;
}

/** Those that take part first, else as they joined. */
export function inOrder(nodes: readonly NodeView[]): NodeView[] {
  const rank = ({ status }: NodeView) => (status === "live" ? 0 : 1);
  return nodes.toSorted((one, other) => rank(one) - rank(other));
}

export interface Sum {
  live: number;
  running: number;
  capacity: number;
  versions: string[];
}

export function sumOf(nodes: readonly NodeView[]): Sum {
  const live = nodes.filter(({ status }) => status === "live");
  const workers = live.filter(({ role }) => role !== "control");
  return {
    live: live.length,
    running: workers.reduce((sum, { running }) => sum + running, 0),
    capacity: workers.reduce((sum, { capacity }) => sum + capacity, 0),
    versions: [...new Set(live.map(({ version }) => version))],
  };
}
