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
    status: 422,
    hint: "Correct the places above, then run `herdctl config check` again.",
  },
  config_not_found: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl init` here, or name the file with `--config`.",
  },
  document_invalid: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Correct the places above and try again.",
  },
  file_unreadable: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Check that the file exists and that you may read it.",
  },
  file_exists: {
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Move the file away, or choose another folder.",
  },
  usage: {
    exitCode: exitCodes.badInput,
    status: 400,
    hint: "Run the command with `--help` to see what it takes.",
  },
  sdk_missing: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Install it with `npm install @anthropic-ai/claude-agent-sdk`, or use `runtime: cli`.",
  },
  address_in_use: {
    exitCode: exitCodes.unreachable,
    status: 409,
    hint: "Stop what listens there, or choose another port or socket.",
  },
  fleet_running: {
    exitCode: exitCodes.unreachable,
    status: 409,
    hint: "Use that one, or stop it with `herdctl stop`.",
  },
  fleet_unreachable: {
    exitCode: exitCodes.unreachable,
    status: 503,
    hint: "Start one with `herdctl start`.",
  },
  service_unavailable: {
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl start --detach`, or let what starts programs here run `herdctl start --leave-jobs`.",
  },
  state_damaged: {
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Nothing was changed. Restore the state folder from a backup, or set the damaged part aside and begin anew.",
  },
  state_newer: {
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Install the newer herdctl again, or choose another state folder.",
  },
  state_older: {
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Run `herdctl start` once: it brings the state up to date.",
  },
  state_unavailable: {
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Check that the state folder exists, that you may write there, and that its disk has room.",
  },
  agent_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl status` to see those there are.",
  },
  artifact_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl artifacts JOB` to see the files that a job keeps.",
  },
  note_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl memory AGENT` to see the notes that an agent has.",
  },
  job_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl jobs` to see those there are.",
  },
  session_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl sessions` to see those there are.",
  },
  session_unavailable: {
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl sessions` to see what can be resumed.",
  },
  docker_unavailable: {
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Set `docker.enabled: false` to run on the host knowingly.",
  },
  workspace_unusable: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Check `working_directory`, `docker.user` and `docker.volumes`.",
  },
  docker_remote: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Containers of agents mount folders and sockets of this machine: name its own engine, such as `unix:///var/run/docker.sock`.",
  },
  container_refused: {
    exitCode: exitCodes.refused,
    status: 422,
    hint: "Correct the agent's `docker` block; `herdctl doctor` tells more.",
  },
  image_missing: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl docker build`, or name another image with `docker.image`.",
  },
  image_not_built: {
    exitCode: exitCodes.jobFailed,
    status: 422,
    hint: "Correct the step that failed and run `herdctl docker build` again.",
  },
  runtime_missing: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Install Claude Code, or point `claude_path` in herdctl.yaml to it.",
  },
  request_invalid: {
    exitCode: exitCodes.badInput,
    status: 400,
    hint: "Correct the parts named above and send it again.",
  },
  request_too_large: {
    exitCode: exitCodes.badInput,
    status: 413,
    hint: "Put the text into a file of the workspace and name the file in the prompt.",
  },
  route_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "GET /v1/openapi.json lists what there is. Is the fleet older than the program that asks?",
  },
  approval_closed: {
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl approvals` to see what is still asked.",
  },
  approval_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl approvals` to see those there are.",
  },
  reply_unfit: {
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl approvals` to see what is asked, and which answers are taken.",
  },
  hook_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl hooks` to see those there are.",
  },
  hook_not_failed: {
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Only a hook that was given up can be tried again by hand.",
  },
  work_source_failed: {
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Check `work_source` of the agent, its token and the network.",
  },
  webhook_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "The address is /hooks/<agent>/<schedule>, of a schedule with `type: webhook`.",
  },
  webhook_off: {
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Switch it on with `herdctl schedules enable`, and send it again.",
  },
  signature_wrong: {
    exitCode: exitCodes.refused,
    status: 401,
    hint: "Sender and fleet must have the same secret, and clocks that agree.",
  },
  secret_missing: {
    exitCode: exitCodes.badInput,
    status: 503,
    hint: "Set the variable that `secret_env` names, in the environment of the fleet or in `.env`.",
  },
  media_type_wrong: {
    exitCode: exitCodes.badInput,
    status: 415,
    hint: "Send the payload as JSON, not compressed.",
  },
  too_many_deliveries: {
    exitCode: exitCodes.refused,
    status: 429,
    hint: "Come again later, or raise `rate_limit` of the schedule.",
  },
  delivery_not_found: {
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl deliveries` to see those there are.",
  },
  foreign_request: {
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Use the address that `herdctl open` prints, or add the name to `server.names`.",
  },
  token_missing: {
    exitCode: exitCodes.refused,
    status: 401,
    hint: "Run `herdctl open` for a link to sign in, or send `Authorization: Bearer` with what `herdctl token` prints.",
  },
  token_wrong: {
    exitCode: exitCodes.refused,
    status: 401,
    hint: "Run `herdctl open` for a fresh link, or `herdctl token` for the token.",
  },
  token_unusable: {
    exitCode: exitCodes.badInput,
    status: 503,
    hint: "Remove the file and run `herdctl reload`: a new one is made.",
  },
  read_only: {
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Sign in with a token that may change things: `herdctl open`.",
  },
  too_many_failures: {
    exitCode: exitCodes.refused,
    status: 429,
    hint: "Wait a minute.",
  },
  only_local: {
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Ask over the socket of the fleet, as `herdctl open` does.",
  },
} as const satisfies Record<string, { exitCode: number; status: number; hint: string }>;

export type ErrorCode = keyof typeof errorTable;
