import type { OutcomeCode } from "./records/outcome.ts";

type FinalStatus = "completed" | "failed" | "cancelled" | "skipped";

/** No retry, a retry after a backoff, a retry after a limit resets, or a retry after a person acted. */
type RetryPolicy = "no" | "backoff" | "wait" | "person";

export interface OutcomeDefinition {
  status: FinalStatus;
  retry: RetryPolicy;
  message: string;
  hint: string;
}

/** Every outcome with its default message and hint. */
export const outcomes: Record<OutcomeCode, OutcomeDefinition> = {
  success: defineOutcome("completed", "no", "The agent finished.", "Nothing to do."),
  finished_with_denials: defineOutcome(
    "completed",
    "no",
    "The agent finished, but some of its tool calls were denied.",
    "Add the tools it needs to `allowed_tools`, or choose another `permission_mode`.",
  ),
  report_missing: defineOutcome(
    "failed",
    "no",
    "The agent finished without the report that its schedule requires.",
    "Describe the report in the prompt, or change the schedule's `output_schema`.",
  ),
  max_turns: defineOutcome(
    "failed",
    "no",
    "The agent used all its turns.",
    "Raise `max_turns`, or make the task smaller.",
  ),
  budget_exceeded: defineOutcome(
    "failed",
    "no",
    "The budget is used up.",
    "Raise `max_budget_usd` or the daily budget.",
  ),
  timeout: defineOutcome(
    "failed",
    "no",
    "The run exceeded its time limit.",
    "Raise `timeouts.total`, or make the task smaller.",
  ),
  session_missing: defineOutcome(
    "failed",
    "no",
    "The session to resume does not exist.",
    "Start a new session. Run `herdctl sessions` to list sessions.",
  ),
  config_error: defineOutcome(
    "failed",
    "no",
    "Claude Code rejected its configuration.",
    "Correct the agent's configuration.",
  ),
  mcp_failed: defineOutcome(
    "failed",
    "no",
    "A required MCP server is not available.",
    "Run `herdctl doctor`, which starts each server. If the agent can work without it, set `required: false` at the server.",
  ),
  workspace_missing: defineOutcome(
    "failed",
    "no",
    "The working directory cannot be used.",
    "Check `working_directory`.",
  ),
  runtime_missing: defineOutcome(
    "failed",
    "no",
    "The `claude` program cannot be run.",
    "Install Claude Code, or set `claude_path` in herdctl.yaml to its path.",
  ),
  image_missing: defineOutcome(
    "failed",
    "no",
    "The image does not exist.",
    "Run `herdctl docker build`.",
  ),
  stalled: defineOutcome(
    "failed",
    "backoff",
    "The agent showed no activity.",
    "Raise `timeouts.stall` if the agent needs longer pauses.",
  ),
  start_timeout: defineOutcome(
    "failed",
    "backoff",
    "Claude Code did not start in time.",
    "Raise `timeouts.start`, or read stderr.log in the job's folder.",
  ),
  overloaded: defineOutcome(
    "failed",
    "backoff",
    "The API is overloaded.",
    "Try again later, or set `fallback_model`.",
  ),
  network: defineOutcome(
    "failed",
    "backoff",
    "The API could not be reached.",
    "Check the network and `ANTHROPIC_BASE_URL`.",
  ),
  interrupted: defineOutcome(
    "failed",
    "backoff",
    "The run was interrupted before it had a result.",
    "Resume it with `herdctl trigger --resume`.",
  ),
  runtime_crashed: defineOutcome(
    "failed",
    "backoff",
    "Claude Code ended unexpectedly.",
    "Read stderr.log in the job's folder.",
  ),
  oom_killed: defineOutcome(
    "failed",
    "backoff",
    "The container ran out of memory.",
    "Raise `docker.memory`.",
  ),
  docker_denied: defineOutcome(
    "failed",
    "no",
    "The user of the fleet has no permission to use the Docker engine.",
    "Run `sudo usermod -aG docker USER`, log in again, and restart the fleet.",
  ),
  docker_unavailable: defineOutcome(
    "failed",
    "backoff",
    "The Docker engine does not answer.",
    "Start the engine. Run `herdctl doctor` for details.",
  ),
  disk_full: defineOutcome("failed", "backoff", "The disk is full.", "Free some space."),
  session_busy: defineOutcome(
    "failed",
    "backoff",
    "Another run is using this session.",
    "Wait for that run to end, or fork the session.",
  ),
  rate_limited: defineOutcome(
    "failed",
    "wait",
    "The API rate limit is reached.",
    "herdctl retries automatically. Lower `max_concurrent` if this happens often.",
  ),
  usage_limit: defineOutcome(
    "failed",
    "wait",
    "The usage limit is reached.",
    "Wait until the limit resets, or change the plan or key.",
  ),
  auth_failed: defineOutcome(
    "failed",
    "person",
    "The API rejected the credential.",
    "Check ANTHROPIC_API_KEY, or sign in with `claude`.",
  ),
  billing: defineOutcome(
    "failed",
    "person",
    "The account has a billing problem.",
    "Check the billing settings of the account.",
  ),
  cancelled: defineOutcome(
    "cancelled",
    "no",
    "The run was cancelled.",
    "Run it again with `herdctl retry`.",
  ),
  overlap: defineOutcome(
    "skipped",
    "no",
    "The previous run was still in progress.",
    "Change the schedule's `overlap` if the run should wait instead.",
  ),
  gate_closed: defineOutcome(
    "skipped",
    "no",
    "The gate was closed.",
    "Nothing to do. The gate is checked again at the next trigger.",
  ),
  not_allowed: defineOutcome(
    "skipped",
    "no",
    "The agent is not allowed to do this.",
    "To allow it, add the other agent to `may_trigger`.",
  ),
  chain_limit: defineOutcome(
    "skipped",
    "no",
    "A limit of the delegation chain was reached.",
    "Raise the limit in `fleet.chain`, or delegate less.",
  ),
};

function defineOutcome(
  status: FinalStatus,
  retry: RetryPolicy,
  message: string,
  hint: string,
): OutcomeDefinition {
  return { status, retry, message, hint };
}
