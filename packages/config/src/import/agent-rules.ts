import { isScalar } from "yaml";
import { toFleetName } from "../schema/strings.ts";
import type { Block } from "./block.ts";
import { translateChat } from "./chat-rules.ts";
import { translateDocker } from "./docker-rules.ts";
import { translateMilliseconds } from "./durations.ts";
import { translateHooks } from "./hook-rules.ts";
import { translateSchedules } from "./schedule-rules.ts";
import { translatePlugins, translateServers } from "./server-rules.ts";
import { translateWorkspace, type WorkspaceDefaults } from "./workspace-rules.ts";

const permissionModes = new Set([
  "default",
  "acceptEdits",
  "bypassPermissions",
  "plan",
  "dontAsk",
  "auto",
]);

/** All settings of an agent: in an agent file, inline, in `defaults` or in `overrides`. */
export function translateAgent(agent: Block, workspace: WorkspaceDefaults = {}): void {
  translateName(agent);
  translatePermissions(agent);
  translateSession(agent);
  translateLimits(agent);
  translateIdentity(agent);
  translateTools(agent);
  translateWorkspace(agent, workspace);
  translateServers(agent);
  translatePlugins(agent);
  const docker = agent.block("docker");
  if (docker) translateDocker(docker);
  const chat = agent.block("chat");
  if (chat) translateChat(chat);
  const hooks = agent.block("hooks");
  if (hooks) translateHooks(hooks);
  const schedules = agent.block("schedules");
  if (schedules) translateSchedules(schedules);
  const source = agent.block("work_source");
  if (source) translateWorkSource(agent, source);
}

function translateName(agent: Block): void {
  const name = agent.text("name");
  if (!agent.isImport || name === undefined || toFleetName(name) === name) return;
  agent.report(
    "decision",
    "name",
    `\`${name}\` is not a valid name; names have letters, digits, \`-\` and \`_\``,
  );
  agent.set("name", toFleetName(name));
}

function translatePermissions(agent: Block): void {
  agent.hoist("permissions", "mode", "permission_mode");
  agent.hoist("permissions", "allowed_tools", "allowed_tools");
  agent.hoist("permissions", "denied_tools", "denied_tools");
  agent.removeIfEmpty("permissions");
  agent.drop(
    "decision",
    "permissions",
    "the remaining rules have no counterpart; write them as `allowed_tools` and `denied_tools`, such as `Bash(npm test)`",
  );
  const mode = agent.text("permission_mode");
  if (agent.isImport && mode !== undefined && !permissionModes.has(mode))
    agent.drop(
      "decision",
      "permission_mode",
      `there is no mode \`${mode}\`; without one, the agent asks before it acts`,
    );
}

/** `session` limited a run; here these limits belong to the agent. */
function translateSession(agent: Block): void {
  agent.hoist("session", "max_turns", "max_turns");
  agent.hoist("session", "model", "model");
  const session = agent.block("session");
  if (session) translateMilliseconds(session, "timeout");
  const timeout = session?.value("timeout");
  if (agent.hoist("session", "timeout", "timeouts.total") && agent.has("timeouts.total"))
    agent.replaceKey("timeouts.total", "timeouts", { total: timeout });
  agent.removeIfEmpty("session");
}

function translateLimits(agent: Block): void {
  agent.hoist("instances", "max_concurrent", "max_concurrent");
  agent.removeIfEmpty("instances");
  agent.drop("ignored", "instances", "`max_concurrent` limits the runs of an agent here");
}

/** Turns the identity into the first sentences of the system prompt. */
function translateIdentity(agent: Block): void {
  const identity = agent.block("identity");
  if (identity === undefined) return;
  const sentences = [
    ["name", "Your name is"],
    ["role", "Your role:"],
    ["personality", "Your personality:"],
  ].flatMap(([key = "", start]) => {
    const text = identity.text(key);
    return text === undefined ? [] : [`${start} ${text.replace(/[.\s]+$/, "")}.`];
  });
  agent.report("renamed", "identity", "`identity` is part of `system_prompt` here");
  const prompt = agent.text("system_prompt");
  if (prompt === undefined && sentences.length > 0)
    agent.replaceKey("identity", "system_prompt", sentences.join(" "));
  else if (prompt !== undefined)
    agent.set("system_prompt", [sentences.join(" "), prompt].join("\n\n"));
  agent.remove("identity");
}

/** `tools` named Claude Code's tools; here it lists herdctl's own. */
function translateTools(agent: Block): void {
  const tools = agent.list("tools");
  const isClaudeTools = tools?.items.every(
    (item) => isScalar(item) && /^([A-Z]|mcp__)/.test(String(item.value)),
  );
  if (isClaudeTools && tools?.items.length !== 0) agent.rename("tools", "builtin_tools");
}

function translateWorkSource(agent: Block, source: Block): void {
  const type = source.text("type");
  if (source.isImport && type !== undefined && type !== "github") {
    agent.drop("decision", "work_source", `there is no work source \`${type}\` here`);
    return;
  }
  const labels = source.block("labels");
  if (labels || (source.isImport && !source.has("labels"))) {
    const ready = labels?.text("ready") ?? "ready";
    const claimed = labels?.text("in_progress");
    source.report(
      "renamed",
      "labels",
      "`labels.ready` is `labels`, `labels.in_progress` is `claimed_label` here",
    );
    source.set("labels", [ready]);
    if (claimed !== undefined) source.set("claimed_label", claimed);
  }
  const token = source.block("auth")?.text("token_env");
  if (token !== undefined) source.rename("auth", "token_env", token);
  source.drop("ignored", "auth", "`token_env` names the variable with the token");
  source.drop("ignored", "cleanup_on_failure", "a claim is released when its job fails");
  source.drop(
    "ignored",
    "cleanup_in_progress",
    "an abandoned claim is released after `stale_after`",
  );
  if (source.isImport && !source.has("repo"))
    agent.drop("decision", "work_source", "a work source needs `repo: owner/name` here");
}
