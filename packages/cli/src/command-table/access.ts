import type { CommandSpec } from "../command.ts";
import { config } from "./config-option.ts";

/** Who may use the fleet over its port, and what was done. */
export const accessCommands: CommandSpec[] = [
  {
    name: "token create",
    summary: "Create a token for a program and print its secret, once",
    arguments: [{ name: "name", summary: "name of the token; actions are recorded under it" }],
    options: [
      { flags: "--scope <scope>", summary: "what it may do: read, trigger, answer or admin" },
      { flags: "--agent <agent>", summary: "only for this agent; repeatable", repeatable: true },
      { flags: "--expires <time>", summary: "when it ends, such as 30d (default: never)" },
      config,
    ],
    examples: [
      "herdctl token create ci --scope trigger --agent deployer --expires 90d",
      "herdctl token create dashboards --scope read",
    ],
    load: () => import("../commands/token-create.ts"),
  },
  {
    name: "token list",
    summary: "List tokens: scope, agents, expiry and last use",
    options: [config],
    load: () => import("../commands/token-list.ts"),
  },
  {
    name: "token revoke",
    summary: "Revoke a token immediately",
    arguments: [{ name: "token", summary: "name of the token" }],
    options: [config],
    load: () => import("../commands/token-revoke.ts"),
  },
  {
    name: "token show",
    summary: "Print the fleet's own token, which has the scope admin",
    options: [{ flags: "--read-only", summary: "print the one with the scope read" }, config],
    load: () => import("../commands/token-show.ts"),
  },
  {
    name: "logins",
    summary: "List the browsers that are signed in",
    options: [config],
    load: () => import("../commands/logins.ts"),
  },
  {
    name: "logout",
    summary: "Sign a browser out, or all of them",
    arguments: [{ name: "login", summary: "id from `herdctl logins`", optional: true }],
    options: [{ flags: "--all", summary: "sign every browser out" }, config],
    examples: ["herdctl logout --all"],
    load: () => import("../commands/logout.ts"),
  },
  {
    name: "audit",
    summary: "Show the audit log: who did what, from where, and how it ended",
    options: [
      { flags: "--since <time>", summary: "only from then on, such as 24h or 2026-03-01" },
      { flags: "--identity <identity>", summary: "only by this identity, such as token:ci" },
      { flags: "--action <action>", summary: "only this action, such as job.trigger" },
      { flags: "--limit <count>", summary: "at most this many records (default: 50)" },
      { flags: "--cursor <number>", summary: "continue after this record" },
      config,
    ],
    examples: ["herdctl audit --since 7d --identity token:ci", "herdctl audit --json --limit 1000"],
    load: () => import("../commands/audit.ts"),
  },
  {
    name: "audit verify",
    summary: "Check that no record of the audit log was edited or removed",
    options: [config],
    load: () => import("../commands/audit-verify.ts"),
  },
];
