/** Exit codes of every herdctl command. */
export const exitCodes = {
  success: 0,
  jobFailed: 1,
  badInput: 2,
  unreachable: 3,
  refused: 4,
  bug: 70,
} as const;

/** Every way a person can get it wrong: what to do about it, and how each door answers. */
export const errorTable = {
  config_invalid: {
    exitCode: exitCodes.badInput,
    hint: "Correct the places above, then run `herdctl config check` again.",
  },
  config_not_found: {
    exitCode: exitCodes.badInput,
    hint: "Run `herdctl init` here, or name the file with `--config`.",
  },
  document_invalid: {
    exitCode: exitCodes.badInput,
    hint: "Correct the places above and try again.",
  },
  file_unreadable: {
    exitCode: exitCodes.badInput,
    hint: "Check that the file exists and that you may read it.",
  },
  file_exists: {
    exitCode: exitCodes.refused,
    hint: "Move the file away, or choose another folder.",
  },
  usage: {
    exitCode: exitCodes.badInput,
    hint: "Run the command with `--help` to see what it takes.",
  },
  sdk_missing: {
    exitCode: exitCodes.badInput,
    hint: "Install it with `npm install @anthropic-ai/claude-agent-sdk`, or use `runtime: cli`.",
  },
  address_in_use: {
    exitCode: exitCodes.unreachable,
    hint: "Stop what listens there, or choose another port or socket.",
  },
  fleet_running: {
    exitCode: exitCodes.unreachable,
    hint: "Use that one, or stop it with `herdctl stop`.",
  },
  state_damaged: {
    exitCode: exitCodes.refused,
    hint: "Nothing was changed. Restore the state folder from a backup, or set the damaged part aside and begin anew.",
  },
  state_newer: {
    exitCode: exitCodes.refused,
    hint: "Install the newer herdctl again, or choose another state folder.",
  },
  state_older: {
    exitCode: exitCodes.refused,
    hint: "Run `herdctl start` once: it brings the state up to date.",
  },
  state_unavailable: {
    exitCode: exitCodes.refused,
    hint: "Check that the state folder exists, that you may write there, and that its disk has room.",
  },
  job_not_found: {
    exitCode: exitCodes.badInput,
    hint: "Run `herdctl jobs` to see those there are.",
  },
  session_not_found: {
    exitCode: exitCodes.badInput,
    hint: "Run `herdctl sessions` to see those there are.",
  },
  session_unavailable: {
    exitCode: exitCodes.refused,
    hint: "Run `herdctl sessions` to see what can be resumed.",
  },
  docker_unavailable: {
    exitCode: exitCodes.refused,
    hint: "Set `docker.enabled: false` to run on the host knowingly.",
  },
  runtime_missing: {
    exitCode: exitCodes.badInput,
    hint: "Install Claude Code, or point `claude_path` in herdctl.yaml to it.",
  },
} as const satisfies Record<string, { exitCode: number; hint: string }>;

export type ErrorCode = keyof typeof errorTable;
