import { setTimeout as delay } from "node:timers/promises";
import type { SeededRandom } from "../../chaos/seeded-random.ts";
import type { TestNode } from "./test-node.ts";

/**
 * The faults. `fleet`: the fleet process dies, its runners continue. `power`: everything on the
 * node dies. `pause`: the fleet process is stopped by a signal. `line`: the connection to the store
 * goes silent without an error. (A whole machine that is suspended may resume in the middle of a
 * step of `claude`. That `claude` is stopped within half a second of waking; no store can prevent
 * this.)
 */
const faultKinds = ["fleet", "power", "pause", "line"] as const;
export type NodeFaultKind = (typeof faultKinds)[number];

/** Longer than it takes to declare a node lost. */
const maxFaultMs = 16_000;

/** Injects faults into this node until `isOver`; afterwards the node runs and reaches the store. */
export async function injectNodeFaults(
  node: TestNode,
  random: SeededRandom,
  isOver: () => boolean,
  canInject: () => boolean,
  onFault: (kind: NodeFaultKind, durationMs: number) => void,
  calm: [number, number] = [3_000, 12_000],
): Promise<void> {
  while (!isOver()) {
    await waitUntilOver(random.between(...calm), isOver);
    if (isOver() || !canInject()) return;
    const kind = random.pick(faultKinds);
    // Half of the faults are too short for other nodes to notice.
    const durationMs =
      random.next() < 0.5 ? random.between(0, 4_000) : random.between(9_000, maxFaultMs);
    await injectFault[kind](node, durationMs);
    onFault(kind, durationMs);
  }
}

const injectFault: Record<NodeFaultKind, (node: TestNode, durationMs: number) => Promise<void>> = {
  fleet: async (node, durationMs) => {
    await node.kill();
    await delay(durationMs);
    await node.startUntilUp();
  },
  power: async (node, durationMs) => {
    await node.powerOff();
    await delay(durationMs);
    await node.startUntilUp();
  },
  pause: async (node, durationMs) => {
    node.pause();
    await delay(durationMs);
    node.resume();
  },
  line: async (node, durationMs) => {
    node.proxy?.silence();
    await delay(durationMs);
    await node.proxy?.restore();
  },
};

async function waitUntilOver(milliseconds: number, isOver: () => boolean): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (Date.now() < deadline && !isOver()) await delay(100);
}
