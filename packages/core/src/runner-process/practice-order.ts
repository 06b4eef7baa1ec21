import { join } from "node:path";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { RunOrder } from "../runner/run-order.ts";

const minute = 60_000;

export type RuntimeType = ResolvedAgent["runtime"]["type"];

/** An order for a run that only a stand-in of claude in that folder carries out. */
export function practiceOrder(folder: string, runtime: RuntimeType): RunOrder {
  return {
    jobId: `practice-${process.pid}`,
    attempt: 1,
    agent: practiceAgent(folder, runtime),
    prompt: "practice",
    place: "cli",
    cwd: folder,
    session: { kind: "fresh", sessionId: "practice" },
    configDir: folder,
    claude: { path: join(folder, "claude"), version: "0.0.0" },
    partialMessages: false,
  };
}

function practiceAgent(folder: string, runtime: RuntimeType): ResolvedAgent {
  return {
    name: "practice",
    file: join(folder, "practice.yaml"),
    fleet_dir: folder,
    working_directory: { path: folder },
    runtime: { type: runtime, stream: "stdout" },
    credential: "api_key",
    prompts: "verbatim",
    permission_mode: "default",
    allowed_tools: [],
    denied_tools: [],
    self_wakeup: false,
    mcp_servers: {},
    setting_sources: ["user"],
    plugins: [],
    env: {},
    session: { mode: "fresh", expires: minute, live: 0 },
    max_concurrent: 1,
    priority: 0,
    warm: 0,
    timeouts: { start: minute, stall: minute, wall: minute },
    max_log_size: 2 ** 20,
    retry: { max_attempts: 1, backoff: minute },
    budget: {},
    tools: [],
    ask: { expires: minute, use_default: false },
    may_trigger: [],
    runs_on: [],
    when_node_gone: "move",
    schedules: {},
    hooks: { after_run: [], on_error: [] },
    docker: {
      enabled: false,
      network: "none",
      egress: [],
      api_reach: [],
      memory: 0,
      pids_limit: 0,
      disk: 0,
      min_free_disk: 0,
      workspace_mode: "ro",
      read_only: true,
      tmpfs: [],
      volumes: [],
      env: {},
      warm: false,
    },
  };
}
