import type { CommandSpec } from "../command.ts";
import { configOption } from "./config-option.ts";

/** Tokens, sign-ins and the audit log. */
export const accessCommands: CommandSpec[] = [
  {
    name: "token create",
    summary: "Create a token and print its secret once",
    arguments: [
      { name: "name", summary: "Name of the token; the audit log records actions under it" },
    ],
    options: [
      { flags: "--scope <scope>", summary: "Scope: read, trigger, answer or admin" },
      {
        flags: "--agent <name>",
        summary: "Allow only this agent; can be repeated",
        repeatable: true,
      },
      { flags: "--expires <time>", summary: "Expiry, such as 30d or 2026-03-01 (default: never)" },
      configOption,
    ],
    examples: [
      "herdctl token create ci --scope trigger --agent deployer --expires 90d",
      "herdctl token create dashboards --scope read",
    ],
    load: () => import("../commands/token-create.ts"),
  },
  {
    name: "token list",
    summary: "List tokens with their scope, agents, expiry and last use",
    options: [configOption],
    examples: ["herdctl token list"],
    load: () => import("../commands/token-list.ts"),
  },
  {
    name: "token revoke",
    summary: "Revoke a token immediately",
    arguments: [{ name: "token", summary: "Name of the token" }],
    options: [configOption],
    examples: ["herdctl token revoke ci"],
    load: () => import("../commands/token-revoke.ts"),
  },
  {
    name: "token show",
    summary: "Print the fleet's built-in token, which has the scope admin",
    options: [
      { flags: "--read-only", summary: "Print the built-in token with the scope read instead" },
      configOption,
    ],
    examples: ["herdctl token show --read-only"],
    load: () => import("../commands/token-show.ts"),
  },
  {
    name: "logins",
    summary: "List signed-in browsers",
    options: [configOption],
    examples: ["herdctl logins"],
    load: () => import("../commands/logins.ts"),
  },
  {
    name: "logout",
    summary: "Sign out one browser, or all of them",
    arguments: [{ name: "login", summary: "ID from `herdctl logins`", optional: true }],
    options: [{ flags: "--all", summary: "Sign out every browser" }, configOption],
    examples: ["herdctl logout --all"],
    load: () => import("../commands/logout.ts"),
  },
  {
    name: "audit",
    summary: "Show the audit log: who did what, from where, and the result",
    options: [
      { flags: "--since <time>", summary: "Only records since then, such as 24h or 2026-03-01" },
      {
        flags: "--identity <identity>",
        summary: "Only actions by this identity, such as token:ci",
      },
      { flags: "--action <action>", summary: "Only this action, such as job.trigger" },
      { flags: "--limit <number>", summary: "Number of entries (default: 50)" },
      { flags: "--cursor <cursor>", summary: "Continue after the previous page" },
      configOption,
    ],
    examples: ["herdctl audit --since 7d --identity token:ci", "herdctl audit --json --limit 1000"],
    load: () => import("../commands/audit.ts"),
  },
  {
    name: "audit verify",
    summary: "Check that no record of the audit log was edited or removed",
    options: [configOption],
    examples: ["herdctl audit verify"],
    load: () => import("../commands/audit-verify.ts"),
  },
];
