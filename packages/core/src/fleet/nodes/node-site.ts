import type { StateManager } from "../../state/state-manager.ts";
import type { EventHub } from "../event-hub.ts";
import type { Membership } from "./membership.ts";
import { News } from "./news.ts";
import { OutputShipper } from "./output-shipper.ts";

/** What a fleet process has beside its own parts where nodes share a store. */
export interface NodeSite {
  /** This node, and what it knows of the others. */
  nodes: Membership;
  news: News;
  shipper: OutputShipper;
}

export interface SiteFrame {
  state: StateManager;
  hub: EventHub;
  trouble(message: string, cause?: unknown): void;
}

/** Of a node that has joined; undefined where the state is not shared. Nothing is heard yet. */
export function makeSite(
  { state, hub, trouble }: SiteFrame,
  nodes: Membership | undefined,
): NodeSite | undefined {
  const { shared } = state;
  if (!shared || !nodes) return undefined;
  const news = new News({
    shared,
    state,
    hub,
    here: nodes.id,
    joined: () => nodes.beat(),
    trouble,
  });
  const tell = (jobId: string) => news.tellOutput(jobId);
  const { outputs, files } = shared;
  return { nodes, news, shipper: new OutputShipper({ outputs, files, tell, trouble }) };
}
