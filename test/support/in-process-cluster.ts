import { join } from "node:path";
import type { FleetManager, FleetManagerOptions } from "@herdctl/core/internal";
import { claudeBinary } from "./claude-binaries.ts";
import type { TestHarness } from "./harness.ts";
import { startFleetInProcess } from "./in-process-fleet.ts";
import { createTestDatabase } from "./postgres.ts";
import { tempFolderWith, writeFiles } from "./temp-folder.ts";

interface InProcessCluster {
  /** Each call creates another simulated machine with the same configuration. */
  node(name: string, options?: NodeOptions): Promise<FleetManager>;
  store: string;
}

interface NodeOptions extends Partial<FleetManagerOptions> {
  /** The folder of an earlier node to restart. */
  folder?: string;
}

/** A fleet whose nodes share an empty store. */
export async function createInProcessCluster(
  harness: TestHarness,
  agents: string,
  { fleet = "", claude = claudeBinary("325") } = {},
): Promise<InProcessCluster> {
  const store = await createTestDatabase();
  const text = `version: 1
fleet: { name: test, max_keep_alive: 0 ${fleet && `, ${fleet}`} }
store: \${HERDCTL_STORE}
claude_path: ${claude}
defaults:
  working_directory: ${harness.workspace}
  permission_mode: bypassPermissions
  retry: { backoff: 200ms }
agents:
${agents}
`;
  const node: InProcessCluster["node"] = (name, { node, folder, ...options } = {}) => {
    const home = folder ?? tempFolderWith({});
    writeFiles(home, { "herdctl.yaml": text });
    const file = join(home, "herdctl.yaml");
    // Sessions stay on the machine where they were created.
    const nodeEnv = { HERDCTL_STORE: store, CLAUDE_CONFIG_DIR: join(home, "claude") };
    const env = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1", ...nodeEnv };
    return startFleetInProcess(harness, file, { env, node: { name, ...node }, ...options });
  };
  return { node, store };
}
