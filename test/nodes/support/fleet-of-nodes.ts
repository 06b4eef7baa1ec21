import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Script } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { claudeBinary, ownEnvironment } from "../../support/claude.ts";
import { folderWith, type WhenOver } from "../../support/folder.ts";
import { proxyTo, through } from "../../support/proxy.ts";
import { type Stage, stage } from "../../support/stage.ts";
import { TestNode } from "./test-node.ts";

interface NodesPlan {
  /** Address of an empty database. */
  store: string;
  /** How many nodes, and how many jobs each runs at once. */
  count: number;
  capacity: number;
  /** Lines below `agents:`; each agent works in the folder of its name. */
  agents: string;
  names: string[];
  claude?: string;
  script?: Script;
  /** Each reaches the store by a wire of its own. */
  withLines?: boolean;
  /** More of the fleet file, and of the environment of each node. */
  fleet?: string;
  env?: Record<string, string>;
  whenOver?: WhenOver;
}

export interface FleetOfNodes {
  on: Stage;
  store: string;
  nodes: TestNode[];
  /** Where each agent works, whichever node it is on: as on a shared disk. */
  workspaceOf(agent: string): string;
  /** Into which hooks write. */
  hooked: string;
}

/** Nodes that are not started yet, on one store and one model. */
export async function fleetOfNodes(plan: NodesPlan): Promise<FleetOfNodes> {
  const { store, count, capacity, names, whenOver = onTestFinished } = plan;
  const on = await stage({ script: plan.script, keepEntries: 100_000 }, whenOver);
  const workspaceOf = (agent: string) => join(on.workspace, agent);
  for (const name of names) mkdirSync(workspaceOf(name));
  const text = fleetText(plan, on.workspace);
  const nodes: TestNode[] = [];
  for (let index = 1; index <= count; index += 1) {
    const name = `n${index}`;
    const line = plan.withLines ? await proxyTo(Number(new URL(store).port), whenOver) : undefined;
    const own = ownEnvironment({
      ...on.rehearsal.env(),
      ...plan.env,
      HERDCTL_STORE: line ? through(line, store) : store,
    });
    whenOver(() => own.dispose());
    const file = join(folderWith({ "herdctl.yaml": text }, whenOver), "herdctl.yaml");
    const flags = ["--capacity", String(capacity)];
    nodes.push(new TestNode(name, own, file, line, whenOver, flags));
  }
  return { on, store, nodes, workspaceOf, hooked: join(dirname(on.workspace), "hooked") };
}

function fleetText(
  { claude = claudeBinary("325"), ...plan }: NodesPlan,
  workspace: string,
): string {
  return `version: 1
fleet: { name: test, warm: false, max_concurrent: ${plan.count * plan.capacity} }
store: \${HERDCTL_STORE}
claude_path: ${claude}
${plan.fleet ?? ""}
defaults:
  permission_mode: bypassPermissions
  retry: { max_attempts: 99, backoff: 100ms }
agents:
${plan.agents.replaceAll("WORKSPACE", workspace)}
`;
}
