import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetClient } from "@herdctl/core";
import { connectFleet } from "@herdctl/core";
import type { Approval, Job } from "@herdctl/protocol";
import type { Script } from "@herdctl/rehearsal";
import { expect, onTestFinished } from "vitest";
import { AgentMemory, memoryDir } from "../../packages/core/src/store/files/agent-memory.ts";
import { checkout } from "../cli/run-herdctl.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFiles } from "../support/temp-folder.ts";
import { freePort } from "../webhooks/webhook-harness.ts";
import { TypedShell } from "./typed-shell.ts";

const longCommand = "timeout 100 tail -f /dev/null";

/** Tags in prompts choose what the model does. Without one it writes the report and ends. */
const script = (commandInRun: string): Script => ({
  rules: [
    tagged("long", { name: "Bash", input: { command: longCommand } }),
    tagged("asks", { name: "mcp__herd__ask", input: { question: "Which colour?" } }),
    tagged("pushes", { name: "Bash", input: { command: "git push" } }),
    tagged("calls", { name: "Bash", input: { command: commandInRun } }),
    tagged("report", { name: "mcp__herd__artifact", input: { path: "report.pdf" } }),
  ],
  default: "Done.",
});

const tagged = (tag: string, tool: { name: string; input: Record<string, unknown> }) => ({
  match: { tag },
  replies: [{ tools: [tool] }, "Done."],
});

const fleetFile = (port: number) => `version: 1
fleet: { name: documented }
server: { port: ${port} }
agents:
  - name: coder
    runtime: cli
    working_directory: workspace
    max_concurrent: 5
    permission_mode: default
    allowed_tools: ["Bash(${longCommand})"]
    tools: [artifact, ask]
    default_prompt: Go.
  - name: caller
    runtime: cli
    working_directory: workspace
    permission_mode: dontAsk
    allowed_tools: [Bash]
  - name: reviewer
    runtime: cli
    working_directory: workspace
    schedules:
      pull-requests:
        type: webhook
        signature: { kind: github, secret_env: GITHUB_WEBHOOK_SECRET }
        events: [pull_request.opened]
        prompt: Review pull request {{payload.pull_request.number}}.
`;

export interface DocumentedFleet {
  client: FleetClient;
  port: number;
  /** A shell in the folder of the fleet. `variables` are set. */
  openShell(variables?: Record<string, string>): TypedShell;
  /** A job whose model follows the tag. Default: of the agent `coder`. */
  trigger(tag: string, agent?: string): Promise<Job>;
  /** Runs such a job to its end. */
  finish(tag: string, agent?: string): Promise<Job>;
  openRequest(tag: string): Promise<Approval>;
  rehearsalUrl: string;
}

/** A fleet as the pages assume it: started from the shell, with a rehearsal as its model. */
export async function startDocumentedFleet(commandInRun: string): Promise<DocumentedFleet> {
  const { rehearsal, root, home } = await startHarness({ script: script(commandInRun) });
  const port = await freePort();
  const folder = join(root, "fleet");
  const pullRequest = readFileSync(
    join(checkout, "examples/pr-reviewer/pull-request.json"),
    "utf8",
  );
  writeFiles(folder, {
    "herdctl.yaml": fleetFile(port),
    "workspace/report.pdf": "%PDF-1.7 report",
    "pull-request.json": pullRequest,
  });
  await new AgentMemory(memoryDir(join(folder, ".herdctl"), "coder")).write("style", "Two spaces.");
  const env = { ...rehearsal.env(), GITHUB_WEBHOOK_SECRET: "a long and random secret of a test" };
  const openShell = (variables = {}) => new TypedShell(home, { ...env, ...variables }, folder);
  const shell = openShell();
  onTestFinished(async () => {
    await shell.type("herdctl stop --now");
    await shell.close();
  });
  const started = await shell.type("herdctl start --detach");
  const client = await connectFleet({ file: join(folder, "herdctl.yaml") });
  if (!client) return expect.fail(started);
  onTestFinished(() => client.close());
  const trigger: DocumentedFleet["trigger"] = async (tag, agent = "coder") =>
    (await client.jobs.trigger({ agent, prompt: `[[tag:${tag}]]` })).job;
  return {
    client,
    port,
    openShell,
    trigger,
    finish: async (tag, agent) => client.jobs.wait((await trigger(tag, agent)).id),
    openRequest: async (tag) => {
      const { id } = await trigger(tag);
      const isOpen = async () => (await client.approvals.list({ job: id }))[0];
      return waitUntil(`a request of ${id}`, isOpen);
    },
    rehearsalUrl: rehearsal.url ?? "",
  };
}
