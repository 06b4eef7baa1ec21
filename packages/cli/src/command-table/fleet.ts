import type { CommandSpec } from "../command.ts";
import { configOption } from "./config-option.ts";
import { nodeOptionSpecs } from "./node-option-specs.ts";

const agentArgument = { name: "agent", summary: "Name of the agent" };

const approvalArgument = {
  name: "id",
  summary: "ID from `herdctl approvals`; a unique prefix is enough",
};

/** Control of the running fleet, and the requests of agents to people. */
export const fleetCommands: CommandSpec[] = [
  {
    name: "start",
    summary: "Start the fleet",
    options: [
      { flags: "-d, --detach", summary: "Run in the background" },
      {
        flags: "--leave-jobs",
        summary:
          "On SIGTERM or SIGINT, exit without stopping running jobs; the next start adopts them",
      },
      ...nodeOptionSpecs,
      configOption,
    ],
    examples: [
      "herdctl start --detach  # in the background; `herdctl stop` ends it",
      "herdctl start --role worker --labels gpu  # one of several machines with a shared store",
    ],
    load: () => import("../commands/start.ts"),
  },
  {
    name: "stop",
    summary: "Stop the fleet; running jobs get 80 seconds to finish",
    options: [
      { flags: "--now", summary: "Interrupt running jobs instead of waiting for them" },
      configOption,
    ],
    examples: ["herdctl stop --now"],
    load: () => import("../commands/stop.ts"),
  },
  {
    name: "restart",
    summary: "Restart the fleet in the background; running jobs continue",
    options: [configOption],
    examples: ["herdctl restart"],
    load: () => import("../commands/restart.ts"),
  },
  {
    name: "reload",
    summary: "Reload the configuration of the running fleet",
    options: [configOption],
    examples: ["herdctl reload"],
    load: () => import("../commands/reload.ts"),
  },
  {
    name: "status",
    summary: "Show the fleet and what each agent is doing",
    arguments: [{ name: "agent", summary: "Show only this agent and its jobs", optional: true }],
    options: [configOption],
    examples: ["herdctl status", "herdctl status coder --json"],
    load: () => import("../commands/status.ts"),
  },
  {
    name: "nodes",
    summary: "List the machines that run the fleet",
    options: [configOption],
    examples: ["herdctl nodes"],
    load: () => import("../commands/nodes.ts"),
  },
  {
    name: "top",
    summary: "Watch the fleet live, cancel jobs and answer questions",
    options: [configOption],
    examples: ["herdctl top"],
    load: () => import("../commands/top.ts"),
  },
  {
    name: "open",
    summary: "Open the dashboard in a browser, signed in",
    options: [
      { flags: "--print", summary: "Print the link without opening a browser" },
      { flags: "--read-only", summary: "Sign in with the scope read" },
      configOption,
    ],
    examples: ["herdctl open --read-only"],
    load: () => import("../commands/open.ts"),
  },
  {
    name: "cancel",
    summary: "Cancel a job and the jobs it delegated, or all jobs of an agent",
    arguments: [
      { name: "job|agent", summary: "Job ID, of which a unique prefix is enough, or agent name" },
    ],
    options: [
      { flags: "--force", summary: "Kill the agent instead of asking it to stop" },
      configOption,
    ],
    examples: [
      "herdctl cancel job-2026-03-01-k3v9",
      "herdctl cancel coder  # all running and queued jobs of the agent",
    ],
    load: () => import("../commands/cancel.ts"),
  },
  {
    name: "pause",
    summary: "Pause an agent: running jobs continue, no new job starts",
    arguments: [{ ...agentArgument, optional: true }],
    options: [{ flags: "--all", summary: "All agents" }, configOption],
    examples: ["herdctl pause coder", "herdctl pause --all"],
    load: () => import("../commands/pause.ts"),
  },
  {
    name: "resume",
    summary: "Resume a paused agent",
    arguments: [{ ...agentArgument, optional: true }],
    options: [{ flags: "--all", summary: "All agents" }, configOption],
    examples: ["herdctl resume coder", "herdctl resume --all"],
    load: () => import("../commands/resume.ts"),
  },
  {
    name: "approvals",
    summary: "List pending permission requests and questions",
    options: [configOption],
    examples: ["herdctl approvals"],
    load: () => import("../commands/approvals.ts"),
  },
  {
    name: "approvals list",
    summary: "List pending permission requests and questions",
    options: [configOption],
    examples: ["herdctl approvals list --json"],
    load: () => import("../commands/approvals.ts"),
  },
  {
    name: "approvals allow",
    summary: "Allow a permission request: once, for its job, or always",
    arguments: [approvalArgument],
    options: [
      { flags: "--job", summary: "Allow it for all attempts of this job" },
      { flags: "--always", summary: "Allow it for all runs of this agent; writes a rule" },
      configOption,
    ],
    examples: ["herdctl approvals allow a3f", "herdctl approvals allow a3f --always"],
    load: () => import("../commands/approvals-allow.ts"),
  },
  {
    name: "approvals deny",
    summary: "Deny a permission request, or decline a question",
    arguments: [approvalArgument],
    options: [{ flags: "--reason <text>", summary: "Reason to give to the agent" }, configOption],
    examples: ['herdctl approvals deny a3f --reason "Not on a Friday."'],
    load: () => import("../commands/approvals-deny.ts"),
  },
  {
    name: "rules",
    summary: "List the permissions that people gave for more than one call",
    arguments: [{ name: "agent", summary: "Only rules of this agent", optional: true }],
    options: [configOption],
    examples: ["herdctl rules coder"],
    load: () => import("../commands/rules.ts"),
  },
  {
    name: "rules remove",
    summary: "Revoke such a permission, from the next run on",
    arguments: [{ name: "id", summary: "ID from `herdctl rules`; a unique prefix is enough" }],
    options: [configOption],
    examples: ["herdctl rules remove k3v"],
    load: () => import("../commands/rules-remove.ts"),
  },
  {
    name: "answer",
    summary: "Answer a question of an agent",
    arguments: [approvalArgument, { name: "text", summary: "The answer", optional: true }],
    options: [
      {
        flags: "--choice <number>",
        summary: "Answer with a choice by its number, or several such as 1,3",
      },
      configOption,
    ],
    examples: ['herdctl answer a3f "The second one, please."', "herdctl answer a3f --choice 2"],
    load: () => import("../commands/answer.ts"),
  },
  {
    name: "chat status",
    summary: "List the chat connections of agents and their state",
    options: [configOption],
    examples: ["herdctl chat status"],
    load: () => import("../commands/chat-status.ts"),
  },
  {
    name: "chat test",
    summary: "Check an agent's chat token, permissions and channels; send nothing",
    arguments: [agentArgument],
    options: [configOption],
    examples: ["herdctl chat test support"],
    load: () => import("../commands/chat-test.ts"),
  },
];
