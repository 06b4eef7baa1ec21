import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Script } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { claudeBinary, createIsolatedEnvironment } from "../../support/claude-binaries.ts";
import { startHarness, type TestHarness } from "../../support/harness.ts";
import { proxiedAddress, startTcpProxy } from "../../support/tcp-proxy.ts";
import { type RegisterCleanup, tempFolderWith } from "../../support/temp-folder.ts";
import { TestNode } from "./test-node.ts";

interface TestClusterPlan {
  /** Address of an empty database. */
  store: string;
  /** Number of nodes, and concurrent jobs per node. */
  count: number;
  capacity: number;
  /** Lines below `agents:`; each agent works in the folder of its name. */
  agents: string;
  names: string[];
  claude?: string;
  script?: Script;
  /** Each node reaches the store through a separate proxy. */
  withProxies?: boolean;
  /** More lines of the fleet file, and of the environment of each node. */
  fleet?: string;
  env?: Record<string, string>;
  onCleanup?: RegisterCleanup;
}

export interface TestCluster {
  harness: TestHarness;
  store: string;
  nodes: TestNode[];
  /** Working directory of each agent on every node, as on a shared disk. */
  workspaceOf(agent: string): string;
  /** The file that hooks append to. */
  hookFile: string;
}

/** Creates nodes on one store and one model without starting them. */
export async function createTestCluster(plan: TestClusterPlan): Promise<TestCluster> {
  const { store, count, capacity, names, onCleanup = onTestFinished } = plan;
  const harness = await startHarness({ script: plan.script, maxEntries: 100_000 }, onCleanup);
  const workspaceOf = (agent: string) => join(harness.workspace, agent);
  for (const name of names) mkdirSync(workspaceOf(name));
  const text = fleetYaml(plan, harness.workspace);
  const nodes: TestNode[] = [];
  for (let index = 1; index <= count; index += 1) {
    const name = `n${index}`;
    const proxy = plan.withProxies
      ? await startTcpProxy(Number(new URL(store).port), onCleanup)
      : undefined;
    const isolated = createIsolatedEnvironment({
      ...harness.rehearsal.env(),
      ...plan.env,
      HERDCTL_STORE: proxy ? proxiedAddress(proxy, store) : store,
    });
    onCleanup(() => isolated.dispose());
    const file = join(tempFolderWith({ "herdctl.yaml": text }, onCleanup), "herdctl.yaml");
    const flags = ["--capacity", String(capacity)];
    nodes.push(new TestNode(name, isolated, file, proxy, onCleanup, flags));
  }
  return {
    harness,
    store,
    nodes,
    workspaceOf,
    hookFile: join(dirname(harness.workspace), "hooked"),
  };
}

function fleetYaml(
  { claude = claudeBinary("325"), ...plan }: TestClusterPlan,
  workspace: string,
): string {
  return `version: 1
fleet: { name: test, max_keep_alive: 0, max_concurrent: ${plan.count * plan.capacity} }
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
