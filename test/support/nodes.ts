import { join } from "node:path";
import type { FleetManager, FleetManagerOptions } from "@herdctl/core";
import { claudeBinary } from "./claude.ts";
import { startFleet } from "./fleet-process.ts";
import { folderWith, writeFiles } from "./folder.ts";
import { testDatabase } from "./postgres.ts";
import type { Stage } from "./stage.ts";

interface Together {
  /** Each call is a machine of its own, with the same configuration. */
  node(name: string, options?: NodeOptions): Promise<FleetManager>;
  store: string;
}

interface NodeOptions extends Partial<FleetManagerOptions> {
  /** Where a node was before. */
  folder?: string;
}

/** A fleet whose nodes share an empty store. */
export async function together(
  on: Stage,
  agents: string,
  { fleet = "", claude = claudeBinary("325") } = {},
): Promise<Together> {
  const store = await testDatabase();
  const text = `version: 1
fleet: { name: test, warm: false ${fleet && `, ${fleet}`} }
store: \${HERDCTL_STORE}
claude_path: ${claude}
defaults:
  working_directory: ${on.workspace}
  permission_mode: bypassPermissions
  retry: { backoff: 200ms }
agents:
${agents}
`;
  const node: Together["node"] = (name, { node: facts, folder, ...options } = {}) => {
    const home = folder ?? folderWith({});
    writeFiles(home, { "herdctl.yaml": text });
    const file = join(home, "herdctl.yaml");
    // Sessions lie on the machine where they were made.
    const own = { HERDCTL_STORE: store, CLAUDE_CONFIG_DIR: join(home, "claude") };
    const env = { ...on.env, CLAUDE_CODE_MAX_RETRIES: "1", ...own };
    return startFleet(on, file, { env, node: { name, ...facts }, ...options });
  };
  return { node, store };
}
