import { setTimeout as delay } from "node:timers/promises";
import type { SharedStore } from "../../state/shared.ts";
import type { FleetContext } from "../context.ts";
import type { Dispatcher } from "../dispatcher.ts";
import { recover } from "../recovery.ts";
import type { Lead } from "./lead.ts";
import type { NodeHands } from "./node-hands.ts";
import { settleLost } from "./settle-lost.ts";
import { sweepMoved } from "./sweep-moved.ts";

const lookEvery = 25;

export interface HandsFrame {
  context: FleetContext;
  dispatcher: Dispatcher;
  shared: SharedStore;
  lead: Lead;
  /** False once the fleet stops. */
  takesWork(): boolean;
  replan(): Promise<void>;
}

/** What becomes of the fleet process when something becomes of its node, or of another. */
export function nodeHands(frame: HandsFrame): NodeHands {
  const { context, dispatcher, shared, lead } = frame;
  const begin = () => {
    if (frame.takesWork()) dispatcher.start();
  };
  return {
    running: () => dispatcher.active.size,
    suspend: async () => {
      dispatcher.halt();
      await lead.set(false);
    },
    resume: begin,
    drop: async () => {
      const dropped = [...dispatcher.active.values()];
      await Promise.all(dropped.map((job) => job.drop()));
      // Whoever recovers looks after none that is still active.
      while (dropped.some((job) => dispatcher.active.get(job.id) === job)) await delay(lookEvery);
    },
    rejoined: async () => {
      await recover(context, dispatcher);
      await sweepMoved(context.state, context.nodeId ?? "");
      begin();
    },
    settleLost: async (node) => {
      const isSettled = await settleLost(context, shared, node);
      dispatcher.kick();
      return isSettled;
    },
    lead: (isLead) => lead.set(isLead),
    configJudged: () => frame.replan(),
  };
}
