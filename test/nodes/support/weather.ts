import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../storm/random.ts";
import type { TestNode } from "./test-node.ts";

/**
 * What befalls a node. `fleet`: its fleet process dies, its runners go on. `power`: all of it dies.
 * `pause`: its fleet process stands still. `line`: its wire to the store goes silent, and nobody is
 * told. (A machine that stands still as a whole may have a `claude` in the middle of something: that
 * one is stopped within half a second of waking, and no store can do better.)
 */
const kinds = ["fleet", "power", "pause", "line"] as const;
export type Kind = (typeof kinds)[number];

/** Longer than it takes until a node counts as lost. */
const longest = 16_000;

/** One after the other befalls this node until it is over; then it is up and reaches the store. */
export async function weatherOver(
  node: TestNode,
  random: Random,
  isOver: () => boolean,
  mayStrike: () => boolean,
  struck: (kind: Kind, lasted: number) => void,
  calm: [number, number] = [3_000, 12_000],
): Promise<void> {
  while (!isOver()) {
    await untilOver(random.between(...calm), isOver);
    if (isOver() || !mayStrike()) return;
    const kind = random.pick(kinds);
    // Half of the time others do not even notice.
    const lasts = random.next() < 0.5 ? random.between(0, 4_000) : random.between(9_000, longest);
    await strike[kind](node, lasts);
    struck(kind, lasts);
  }
}

const strike: Record<Kind, (node: TestNode, lasts: number) => Promise<void>> = {
  fleet: async (node, lasts) => {
    await node.kill();
    await delay(lasts);
    await node.startAgain();
  },
  power: async (node, lasts) => {
    await node.powerOff();
    await delay(lasts);
    await node.startAgain();
  },
  pause: async (node, lasts) => {
    node.pause();
    await delay(lasts);
    node.goOn();
  },
  line: async (node, lasts) => {
    node.line?.silence();
    await delay(lasts);
    await node.line?.restore();
  },
};

async function untilOver(milliseconds: number, isOver: () => boolean): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (Date.now() < deadline && !isOver()) await delay(100);
}
