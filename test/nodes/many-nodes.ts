import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetControl, Job } from "@herdctl/core";
import { claudeBinary } from "../support/claude.ts";
import { type FleetProgram, fleetProgram, until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { ask } from "../support/postgres.ts";
import { obey } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

export const manual = { trigger: "manual" as const, agent: "one" };

/** One machine's copy of the same configuration, with a state directory of its own. */
export function nodeFile(on: Stage, more = ""): string {
  const text = `version: 1
fleet: { name: test, warm: false }
claude_path: ${claudeBinary("325")}
store: \${HERDCTL_STORE}
defaults:
  working_directory: ${on.workspace}
  permission_mode: bypassPermissions
  retry: { backoff: 200ms }
agents:
  - { name: one, runtime: cli }
${more}`;
  return join(folderWith({ "herdctl.yaml": text }), "herdctl.yaml");
}

export function startNode(
  on: Stage,
  file: string,
  { name, store }: { name: string; store: string },
): Promise<FleetProgram> {
  // Sessions lie on the machine where they were made.
  const own = { HERDCTL_STORE: store, CLAUDE_CONFIG_DIR: join(dirname(file), "claude") };
  const env = { ...on.env, ...own };
  return fleetProgram({ env, flags: ["--node-name", name] }, file);
}

/** A tool that shows at every moment that it is at work, until it may end. */
const showingLife = obey([
  "Bash",
  {
    command: "while [ ! -e go ]; do date +%s%3N >> alive-$$; sleep 0.1; done; date +%s%3N >> ended",
  },
]);

/** For each time that the tool was begun, when it was at work, the first first. */
export function timesAtWork({ workspace }: Stage): { from: number; to: number; gap: number }[] {
  const files = readdirSync(workspace).filter((name) => name.startsWith("alive-"));
  return files
    .map((name) => {
      const times = readFileSync(join(workspace, name), "utf8").trim().split("\n").map(Number);
      const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
      return { from: times[0] ?? 0, to: times.at(-1) ?? 0, gap: Math.max(0, ...gaps) };
    })
    .sort((a, b) => a.from - b.from);
}

export async function begunTimes(on: Stage, count: number, within = 60_000): Promise<void> {
  const look = async () => timesAtWork(on).length >= count;
  await until(`the tool to be begun ${count} times`, look, within);
}

export function letEnd({ workspace }: Stage): void {
  writeFileSync(join(workspace, "go"), "");
}

export async function idOf(control: FleetControl): Promise<string> {
  const nodes = await control.nodes();
  const here = nodes.find((node) => node.here);
  if (!here) throw new Error("a node does not know itself");
  return here.id;
}

export async function nodeNamed(control: FleetControl, name: string) {
  return (await control.nodes()).find((node) => node.name === name);
}

/**
 * Two nodes, and a job that is at work on the first; its line to the store may be one of its own.
 * The job is there before the second node: of two that look at the same moment either may take it.
 */
export async function twoAtWork(
  on: Stage,
  store: string,
  line = store,
): Promise<{ one: FleetProgram; two: FleetProgram; job: Job; file: string }> {
  const file = nodeFile(on);
  const one = await startNode(on, file, { name: "one", store: line });
  const job = await jobAtWork(on, one);
  const two = await startNode(on, nodeFile(on), { name: "two", store });
  await knowEachOther(store, [one, two]);
  return { one, two, job, file };
}

/** Until then they may go on without the store as if they were alone. */
async function knowEachOther(store: string, nodes: FleetProgram[]): Promise<void> {
  await until("the nodes to run and to know each other", async () => {
    const states = await Promise.all(nodes.map(({ control }) => control.status()));
    const rows = await ask(store, "SELECT knows FROM herdctl.nodes");
    const isKnown = rows.every(({ knows }) => JSON.parse(knows).length === nodes.length - 1);
    return isKnown && states.every(({ fleet }) => fleet.state === "running");
  });
}

/** A job that is at work on this node. */
export async function jobAtWork(on: Stage, { control }: FleetProgram): Promise<Job> {
  const { job } = await control.trigger({ ...manual, prompt: showingLife });
  await begunTimes(on, 1);
  return job;
}
