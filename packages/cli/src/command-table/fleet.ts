import type { CommandSpec } from "../command.ts";
import { config } from "./config-option.ts";
import { nodeFlags } from "./node-flags.ts";

/** The fleet as it runs, and what it asks of people. */
export const fleetCommands: CommandSpec[] = [
  {
    name: "start",
    summary: "Run the fleet",
    options: [
      { flags: "-d, --detach", summary: "in the background" },
      {
        flags: "--leave-jobs",
        summary: "told to stop by a signal, leave what runs to the next start",
      },
      ...nodeFlags,
      config,
    ],
    examples: [
      "herdctl start --detach  # in the background; `herdctl stop` ends it",
      "herdctl start --role worker --labels gpu  # one of several machines with a shared store",
    ],
    load: () => import("../commands/start.ts"),
  },
  {
    name: "stop",
    summary: "Stop the fleet once its jobs have ended, or after 80 seconds",
    options: [{ flags: "--now", summary: "do not wait: what runs is interrupted" }, config],
    examples: ["herdctl stop --now"],
    load: () => import("../commands/stop.ts"),
  },
  {
    name: "restart",
    summary: "Start the fleet anew, in the background or as its service, while its jobs go on",
    options: [config],
    load: () => import("../commands/restart.ts"),
  },
  {
    name: "reload",
    summary: "Let the running fleet read its configuration again",
    options: [config],
    load: () => import("../commands/reload.ts"),
  },
  {
    name: "status",
    summary: "Show what the fleet and its agents are doing",
    arguments: [{ name: "agent", summary: "only this agent, with its jobs", optional: true }],
    options: [config],
    examples: ["herdctl status", "herdctl status coder --json"],
    load: () => import("../commands/status.ts"),
  },
  {
    name: "nodes",
    summary: "Show the machines that run the fleet together",
    options: [config],
    load: () => import("../commands/nodes.ts"),
  },
  {
    name: "top",
    summary: "Watch the fleet live, cancel jobs and answer questions",
    options: [config],
    load: () => import("../commands/top.ts"),
  },
  {
    name: "open",
    summary: "Open the fleet in a browser, signed in",
    options: [
      { flags: "--print", summary: "only print the link" },
      { flags: "--read-only", summary: "sign in to look, not to touch" },
      config,
    ],
    examples: ["herdctl open --read-only"],
    load: () => import("../commands/open.ts"),
  },
  {
    name: "cancel",
    summary: "Stop a job with all it handed on, or all that an agent does and has to do",
    arguments: [{ name: "job|agent", summary: "a job's id or the beginning of it, or an agent" }],
    options: [{ flags: "--force", summary: "end it at once instead of asking it to stop" }, config],
    examples: [
      "herdctl cancel job-2026-03-01-k3v9",
      "herdctl cancel coder  # all that it does and has to do",
    ],
    load: () => import("../commands/cancel.ts"),
  },
  {
    name: "pause",
    summary: "Start nothing more of an agent",
    arguments: [{ name: "agent", summary: "which agent" }],
    options: [config],
    load: () => import("../commands/pause.ts"),
  },
  {
    name: "resume",
    summary: "Let a paused agent go on",
    arguments: [{ name: "agent", summary: "which agent" }],
    options: [config],
    load: () => import("../commands/resume.ts"),
  },
  {
    name: "approvals",
    summary: "Show what agents ask: to be allowed something, or a question",
    options: [config],
    load: () => import("../commands/approvals.ts"),
  },
  {
    name: "approvals list",
    summary: "The same",
    options: [config],
    load: () => import("../commands/approvals.ts"),
  },
  {
    name: "approvals allow",
    summary: "Allow one request, once",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    load: () => import("../commands/approvals-allow.ts"),
  },
  {
    name: "approvals deny",
    summary: "Deny one request, or decline to answer a question",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [{ flags: "--reason <text>", summary: "what the agent is told" }, config],
    examples: ['herdctl approvals deny a3f --reason "Not on a Friday."'],
    load: () => import("../commands/approvals-deny.ts"),
  },
  {
    name: "answer",
    summary: "Answer an agent's question",
    arguments: [
      { name: "id", summary: "its id, or enough of it" },
      { name: "text", summary: "the answer", optional: true },
    ],
    options: [
      { flags: "--choice <number>", summary: "choose by its number; several as 1,3" },
      config,
    ],
    examples: ['herdctl answer a3f "The second one, please."', "herdctl answer a3f --choice 2"],
    load: () => import("../commands/answer.ts"),
  },
  {
    name: "chat status",
    summary: "Show which agents are in a chat, and whether they are connected",
    options: [config],
    load: () => import("../commands/chat-status.ts"),
  },
  {
    name: "chat test",
    summary: "Check token, rights and channels of an agent's chats; nothing is sent",
    arguments: [{ name: "agent", summary: "which agent" }],
    options: [config],
    load: () => import("../commands/chat-test.ts"),
  },
];
