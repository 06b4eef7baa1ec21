// A fleet of 1,000 agent files, loaded and validated in a fresh process each time.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inTurns, timeProgram } from "./measure.mjs";

const agents = 1_000;
const loadOnce = join(import.meta.dirname, "load-once.mjs");

export async function config() {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-bench-"));
  try {
    writeFleet(folder);
    const load = (how) => async () => Number((await timeProgram([loadOnce, how, folder])).stdout);
    const times = await inTurns(7, { ours: load("herdctl"), bare: load("yaml") });
    return {
      what: `load ${agents} agents`,
      beside: "read and parse the same files",
      ...times,
      bound: { median: 1_000 },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writeFleet(folder) {
  mkdirSync(join(folder, "agents"));
  writeFileSync(join(folder, "herdctl.yaml"), fleetFile);
  for (let index = 0; index < agents; index += 1) {
    writeFileSync(join(folder, "agents", `agent-${index}.yaml`), agentFile(index));
  }
}

const fleetFile = `version: 1
fleet: { name: large }
defaults: { permission_mode: acceptEdits, max_turns: 50, docker: { memory: 2g } }
agents:
  - path: agents/*.yaml
`;

const agentFile = (index) => `name: agent-${index}
description: Looks after part ${index}
working_directory: ../parts/${index}
runtime: cli
docker: { enabled: true, memory: 1g, cpus: 1.5 }
allowed_tools: [Read, Edit, Bash, mcp__github__*]
denied_tools: [WebSearch]
env: { PART: "\${PART:-${index}}" }
session: { mode: persistent, expires: 24h }
schedules:
  issues: { type: interval, every: 5m, prompt: "Fix the oldest ready issue." }
  report:
    type: cron
    cron: "${index % 60} ${index % 24} * * 1-5"
    timezone: Europe/Berlin
    prompt: Write the report.
`;
