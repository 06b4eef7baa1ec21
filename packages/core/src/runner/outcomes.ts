import type { OutcomeCode } from "../state/outcome.ts";

type Ending = "completed" | "failed" | "cancelled" | "skipped";

/** What may follow: nothing, another try by itself, a wait for a limit, or a person first. */
type Retry = "no" | "backoff" | "wait" | "person";

export interface OutcomeFacts {
  status: Ending;
  retry: Retry;
  message: string;
  hint: string;
}

/** Every outcome: what it says when nothing more exact is known, and what to do about it. */
export const outcomes: Record<OutcomeCode, OutcomeFacts> = {
  success: entry("completed", "no", "The agent finished.", "Nothing to do."),
  finished_with_denials: entry(
    "completed",
    "no",
    "The agent finished, but some of its tools were denied.",
    "Allow the tools it needs under `allowed_tools`, or choose another `permission_mode`.",
  ),
  report_missing: entry(
    "failed",
    "no",
    "The agent finished without the report that its schedule demands.",
    "Say in the prompt what is to be reported, or change `output_schema` of the schedule.",
  ),
  max_turns: entry(
    "failed",
    "no",
    "The agent used all its turns.",
    "Raise `max_turns`, or make the task smaller.",
  ),
  budget_exceeded: entry(
    "failed",
    "no",
    "The budget is used up.",
    "Raise `max_budget_usd` or the daily budget.",
  ),
  timeout: entry(
    "failed",
    "no",
    "The run took longer than it may.",
    "Raise `timeouts.wall`, or make the task smaller.",
  ),
  session_missing: entry(
    "failed",
    "no",
    "The session to go on with does not exist.",
    "Start a fresh session; `herdctl sessions` lists what can be resumed.",
  ),
  config_error: entry(
    "failed",
    "no",
    "Claude Code refused the way it was started.",
    "Correct the agent's configuration.",
  ),
  workspace_missing: entry(
    "failed",
    "no",
    "The working directory cannot be used.",
    "Check `working_directory`.",
  ),
  runtime_missing: entry(
    "failed",
    "no",
    "The `claude` program cannot be run.",
    "Install Claude Code, or point `claude_path` in herdctl.yaml to it.",
  ),
  image_missing: entry("failed", "no", "The image does not exist.", "Run `herdctl docker build`."),
  stalled: entry(
    "failed",
    "backoff",
    "The agent showed no sign of life.",
    "Raise `timeouts.stall` if it needs longer pauses.",
  ),
  start_timeout: entry(
    "failed",
    "backoff",
    "Claude Code did not start in time.",
    "Raise `timeouts.start`, or look into stderr.log of the job.",
  ),
  overloaded: entry(
    "failed",
    "backoff",
    "The API is overloaded.",
    "Try again later; `fallback_model` can help.",
  ),
  network: entry(
    "failed",
    "backoff",
    "The API could not be reached.",
    "Check the network and `ANTHROPIC_BASE_URL`.",
  ),
  interrupted: entry(
    "failed",
    "backoff",
    "The run broke off before it had a result.",
    "Resume it with `herdctl trigger --resume`.",
  ),
  runtime_crashed: entry(
    "failed",
    "backoff",
    "Claude Code ended unexpectedly.",
    "Look into stderr.log of the job.",
  ),
  oom_killed: entry(
    "failed",
    "backoff",
    "The container ran out of memory.",
    "Raise `docker.memory`.",
  ),
  docker_unavailable: entry(
    "failed",
    "backoff",
    "The Docker engine does not answer.",
    "Start the engine; `herdctl doctor` tells more.",
  ),
  disk_full: entry("failed", "backoff", "The disk is full.", "Free some space."),
  session_busy: entry(
    "failed",
    "backoff",
    "Another run is writing to this session.",
    "Wait for it, or fork the session.",
  ),
  rate_limited: entry(
    "failed",
    "wait",
    "The API asked to slow down.",
    "It goes by itself; fewer runs at once help.",
  ),
  usage_limit: entry(
    "failed",
    "wait",
    "The usage limit is reached.",
    "It resets by itself, or change the plan or key.",
  ),
  auth_failed: entry(
    "failed",
    "person",
    "The API did not accept the credential.",
    "Check ANTHROPIC_API_KEY, or sign in with `claude`.",
  ),
  billing: entry(
    "failed",
    "person",
    "The account cannot pay for this.",
    "Check the account's billing.",
  ),
  cancelled: entry(
    "cancelled",
    "no",
    "The run was cancelled.",
    "Nothing to do; it can be resumed.",
  ),
  overlap: entry(
    "skipped",
    "no",
    "The last run was not over.",
    "Choose another `overlap` if it should wait.",
  ),
  gate_closed: entry(
    "skipped",
    "no",
    "The gate was closed.",
    "Nothing to do; it is asked again next time.",
  ),
  not_allowed: entry(
    "skipped",
    "no",
    "The agent may not do this.",
    "Name the other agent in its `may_trigger` if it should.",
  ),
  chain_limit: entry(
    "skipped",
    "no",
    "A limit of the chain was reached.",
    "Raise it under `fleet.chain`, or let fewer agents hand work on.",
  ),
};

function entry(status: Ending, retry: Retry, message: string, hint: string): OutcomeFacts {
  return { status, retry, message, hint };
}
