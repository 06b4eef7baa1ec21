import type { Block } from "./block.ts";
import { translateMilliseconds } from "./durations.ts";

/** What the events of the established format are called here. */
const outcomesOfEvent: Record<string, string[]> = {
  completed: ["success", "finished_with_denials"],
  failed: [
    ...["report_missing", "max_turns", "budget_exceeded", "session_missing", "config_error"],
    ...["mcp_failed", "workspace_missing", "runtime_missing", "image_missing", "overloaded"],
    ...["network", "interrupted", "runtime_crashed", "oom_killed", "docker_denied"],
    ...["docker_unavailable", "disk_full", "session_busy", "rate_limited", "usage_limit"],
    ...["auth_failed", "billing"],
  ],
  timeout: ["timeout", "stalled", "start_timeout"],
  cancelled: ["cancelled"],
};

/** The `hooks` block of an agent. */
export function translateHooks(hooks: Block): void {
  for (const list of ["after_run", "on_error"]) {
    for (const hook of hooks.blocks(list)) translateHook(hook);
  }
}

function translateHook(hook: Block): void {
  const name = hook.text("name");
  if (name !== undefined && hook.has("type")) hook.comment("type", name);
  hook.drop("ignored", "name", "hooks have no names here; the name is a comment now");
  translateMilliseconds(hook, "timeout");
  if (hook.value("continue_on_error") === false)
    hook.drop("decision", "continue_on_error", "a failed hook never changes the outcome here");
  hook.drop("ignored", "continue_on_error", "a failed hook never changes the outcome here");
  translateEvents(hook);
  translateRequest(hook);
}

function translateEvents(hook: Block): void {
  const events = hook.value("on_events");
  if (!Array.isArray(events)) return;
  const known = events.flatMap((event) => outcomesOfEvent[String(event)] ?? []);
  const isAll = Object.keys(outcomesOfEvent).every((event) => events.includes(event));
  if (isAll || known.length === 0)
    hook.drop("ignored", "on_events", "a hook without `outcomes` runs for every outcome");
  else hook.rename("on_events", "outcomes", known);
}

/** Fields of hooks that post. */
function translateRequest(hook: Block): void {
  hook.rename("bot_token_env", "token_env");
  const method = hook.text("method");
  if (method?.toUpperCase() === "POST")
    hook.drop("ignored", "method", "a webhook is always sent with POST here");
  hook.drop("decision", "method", "a webhook is always sent with POST here");
}
