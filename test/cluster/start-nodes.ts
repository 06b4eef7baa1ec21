import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetControl, Job } from "@herdctl/protocol";
import { claudeBinary } from "../support/claude-binaries.ts";
import { type FleetProcess, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import type { TestHarness } from "../support/harness.ts";
import { queryDatabase } from "../support/postgres.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

export const manualTrigger = { agent: "one" };

/** One machine's copy of the configuration, with a separate state directory. */
export function nodeFile(harness: TestHarness, more = ""): string {
  const text = `version: 1
fleet: { name: test, max_keep_alive: 0 }
claude_path: ${claudeBinary("325")}
store: \${HERDCTL_STORE}
defaults:
  working_directory: ${harness.workspace}
  permission_mode: bypassPermissions
  retry: { backoff: 200ms }
agents:
  - { name: one, runtime: cli }
${more}`;
  return join(tempFolderWith({ "herdctl.yaml": text }), "herdctl.yaml");
}

export function startNode(
  harness: TestHarness,
  file: string,
  { name, store }: { name: string; store: string },
): Promise<FleetProcess> {
  // Sessions stay on the machine where they were created.
  const nodeEnv = { HERDCTL_STORE: store, CLAUDE_CONFIG_DIR: join(dirname(file), "claude") };
  const env = { ...harness.env, ...nodeEnv };
  return startFleetProcess({ env, flags: ["--node-name", name] }, file);
}

/** A tool that writes timestamps while it runs, until the file `go` exists. */
const heartbeatToolPrompt = toolCallPrompt([
  "Bash",
  {
    command: "while [ ! -e go ]; do date +%s%3N >> alive-$$; sleep 0.1; done; date +%s%3N >> ended",
  },
]);

/** For each start of the tool, when it ran; oldest first. */
export function toolWorkPeriods({
  workspace,
}: TestHarness): { from: number; to: number; gap: number }[] {
  const files = readdirSync(workspace).filter((name) => name.startsWith("alive-"));
  return files
    .map((name) => {
      const times = readFileSync(join(workspace, name), "utf8").trim().split("\n").map(Number);
      const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
      return { from: times[0] ?? 0, to: times.at(-1) ?? 0, gap: Math.max(0, ...gaps) };
    })
    .sort((a, b) => a.from - b.from);
}

export async function waitForToolStarts(
  harness: TestHarness,
  count: number,
  timeoutMs = 60_000,
): Promise<void> {
  const poll = async () => toolWorkPeriods(harness).length >= count;
  await waitUntil(`the tool to be begun ${count} times`, poll, timeoutMs);
}

export function releaseTool({ workspace }: TestHarness): void {
  writeFileSync(join(workspace, "go"), "");
}

export async function ownNodeId(control: FleetControl): Promise<string> {
  const nodes = await control.nodes.list();
  const here = nodes.find((node) => node.self);
  if (!here) throw new Error("a node does not know itself");
  return here.id;
}

export async function findNode(control: FleetControl, name: string) {
  return (await control.nodes.list()).find((node) => node.name === name);
}

/**
 * Two nodes and a job that runs on the first, whose connection to the store can be proxied. The job
 * is triggered before the second node starts; otherwise either could take it.
 */
export async function startTwoNodesWithJob(
  harness: TestHarness,
  store: string,
  storeAddress = store,
): Promise<{ one: FleetProcess; two: FleetProcess; job: Job; file: string }> {
  const file = nodeFile(harness);
  const one = await startNode(harness, file, { name: "one", store: storeAddress });
  const job = await startJobOn(harness, one);
  const two = await startNode(harness, nodeFile(harness), { name: "two", store });
  await waitUntilPeersKnown(store, [one, two]);
  return { one, two, job, file };
}

/** Before they know each other, they may continue alone without the store. */
async function waitUntilPeersKnown(store: string, nodes: FleetProcess[]): Promise<void> {
  await waitUntil("the nodes to run and to know each other", async () => {
    const states = await Promise.all(nodes.map(({ control }) => control.status()));
    const rows = await queryDatabase(store, "SELECT knows FROM herdctl.nodes");
    const isKnown = rows.every(
      ({ known_peers: knows }) => JSON.parse(knows).length === nodes.length - 1,
    );
    return isKnown && states.every(({ fleet }) => fleet.state === "running");
  });
}

/** Starts a job on this node and waits until its tool runs. */
export async function startJobOn(harness: TestHarness, { control }: FleetProcess): Promise<Job> {
  const { job } = await control.jobs.trigger({ ...manualTrigger, prompt: heartbeatToolPrompt });
  await waitForToolStarts(harness, 1);
  return job;
}
