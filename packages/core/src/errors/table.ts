/** Exit codes of every herdctl command. */
export const exitCodes = {
  success: 0,
  jobFailed: 1,
  badInput: 2,
  unreachable: 3,
  refused: 4,
  bug: 70,
} as const;

interface ErrorFacts {
  meaning: string;
  exitCode: number;
  /** How the control API answers. */
  status: number;
  hint: string;
}

/** Every way a person can get it wrong: what it means, what to do, and how each door answers. */
export const errorTable = {
  config_invalid: {
    meaning: "The fleet file, or a file that it names, has mistakes.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Correct the places above, then run `herdctl config check` again.",
  },
  config_not_found: {
    meaning: "No fleet file was found in this folder, in one above it, or where it was named.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl init` here, or name the file with `--config`.",
  },
  dubious_ownership: {
    meaning:
      "The fleet file, `.env`, an agent file or the state folder belongs to another user of this machine, or others may change it. Nothing of it is used.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Correct owner or mode, or name the folder in `HERDCTL_SAFE_DIRECTORY`.",
  },
  document_invalid: {
    meaning: "A script for the rehearsal, or another document, has mistakes.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Correct the places above and try again.",
  },
  file_unreadable: {
    meaning: "A file that was named cannot be read.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Check that the file exists and that you may read it.",
  },
  file_exists: {
    meaning: "A file is in the way of one that was to be written. Nothing was overwritten.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Move the file away, or choose another folder.",
  },
  usage: {
    meaning: "The command was not given what it needs, or was given what it does not know.",
    exitCode: exitCodes.badInput,
    status: 400,
    hint: "Run the command with `--help` to see what it takes.",
  },
  settings_rejected: {
    meaning: "Claude Code settings are wrong, or Claude Code did not apply all of them.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Correct the settings, or update Claude Code if it is too old to know them.",
  },
  sdk_missing: {
    meaning: "An agent runs on the Agent SDK, which is not installed.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Install it with `npm install @anthropic-ai/claude-agent-sdk`, or use `runtime: cli`.",
  },
  address_in_use: {
    meaning: "Another program listens on the port or the socket.",
    exitCode: exitCodes.unreachable,
    status: 409,
    hint: "Stop what listens there, or choose another port or socket.",
  },
  fleet_running: {
    meaning: "A fleet of this folder is running already.",
    exitCode: exitCodes.unreachable,
    status: 409,
    hint: "Use that one, or stop it with `herdctl stop`.",
  },
  fleet_unreachable: {
    meaning: "No fleet answers on its socket or address.",
    exitCode: exitCodes.unreachable,
    status: 503,
    hint: "Start one with `herdctl start`.",
  },
  service_unavailable: {
    meaning: "This system has no service manager that a fleet could be given to.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl start --detach`, or let what starts programs here run `herdctl start --leave-jobs`.",
  },
  state_damaged: {
    meaning: "A part of the state folder cannot be read as what it should be.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Nothing was changed. Restore the state folder from a backup, or set the damaged part aside and begin anew.",
  },
  state_newer: {
    meaning: "The state was written by a newer herdctl.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Install the newer herdctl again, or choose another state folder.",
  },
  state_older: {
    meaning: "The state was written by an older herdctl, and this command only reads.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Run `herdctl start` once: it brings the state up to date.",
  },
  state_unavailable: {
    meaning: "The state folder, or the PostgreSQL database that is the store, cannot be used.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Check that the state folder exists, that you may write there, and that its disk has room.",
  },
  store_refused: {
    meaning: "The PostgreSQL database that `store` names cannot be the store of this fleet.",
    exitCode: exitCodes.badInput,
    status: 503,
    hint: "Correct the address in `store`: its user, password, host and database.",
  },
  node_refused: {
    meaning:
      "This node cannot take part in the fleet: the nodes that run have another configuration.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Bring the same configuration files to all nodes, or roll these out with `herdctl reload` on a node that runs.",
  },
  node_fenced: {
    meaning: "The lease of this node has ended: other nodes may have taken over its jobs.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Wait a moment: the node joins the fleet again by itself.",
  },
  agent_not_found: {
    meaning: "The fleet has no agent of this name.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl status` to see those there are.",
  },
  artifact_not_found: {
    meaning: "The job keeps no file of this name.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl artifacts JOB` to see the files that a job keeps.",
  },
  note_not_found: {
    meaning: "The agent has no note of this name.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl memory AGENT` to see the notes that an agent has.",
  },
  job_not_found: {
    meaning: "No job has this id, or one that begins with it.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl jobs` to see those there are.",
  },
  session_not_found: {
    meaning: "No session has this id.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl sessions` to see those there are.",
  },
  session_unavailable: {
    meaning: "The session is on record, but it cannot be gone on with.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl sessions` to see what can be resumed.",
  },
  docker_unavailable: {
    meaning:
      "The agent runs in a container, and the Docker engine does not answer. It is never run on the host instead.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Set `docker.enabled: false` to run on the host knowingly.",
  },
  workspace_unusable: {
    meaning: "The working directory, or a volume, cannot be used in a container as it is.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Check `working_directory`, `docker.user` and `docker.volumes`.",
  },
  disk_full: {
    meaning: "The disk of the working directory or of the state has less left than a run needs.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Free some space, or lower `docker.min_free_disk`.",
  },
  docker_remote: {
    meaning: "The Docker engine that is named is not of this machine.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Containers of agents mount folders and sockets of this machine: name its own engine, such as `unix:///var/run/docker.sock`.",
  },
  container_refused: {
    meaning: "The container of an agent could not be started as its `docker` block describes it.",
    exitCode: exitCodes.refused,
    status: 422,
    hint: "Correct the agent's `docker` block; `herdctl doctor` tells more.",
  },
  image_missing: {
    meaning: "The image that the agent runs in does not exist here.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl docker build`, or name another image with `docker.image`.",
  },
  image_not_built: {
    meaning: "A step of building the image failed.",
    exitCode: exitCodes.jobFailed,
    status: 422,
    hint: "Correct the step that failed and run `herdctl docker build` again.",
  },
  runtime_missing: {
    meaning: "The `claude` program cannot be found or run.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Install Claude Code, or point `claude_path` in herdctl.yaml to it.",
  },
  request_invalid: {
    meaning: "A request to the control API does not fit its contract.",
    exitCode: exitCodes.badInput,
    status: 400,
    hint: "Correct the parts named above and send it again.",
  },
  request_too_large: {
    meaning: "A request to the control API is larger than it may be.",
    exitCode: exitCodes.badInput,
    status: 413,
    hint: "Put the text into a file of the workspace and name the file in the prompt.",
  },
  route_not_found: {
    meaning: "The control API has no such call.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "`GET /v1/openapi.json` lists what there is. Is the fleet older than the program that asks?",
  },
  approval_closed: {
    meaning: "The request or question was answered before, or its time is over.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl approvals` to see what is still asked.",
  },
  approval_not_found: {
    meaning: "No request or question has this id.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl approvals` to see those there are.",
  },
  approval_not_shown: {
    meaning:
      "An MCP client tried to allow or answer a request that the MCP tools cannot show whole.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl approvals` or open the dashboard to read it all and to answer it.",
  },
  reply_unfit: {
    meaning: "The answer is none that the question takes.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl approvals` to see what is asked, and which answers are taken.",
  },
  hook_not_found: {
    meaning: "No hook run has this id.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl hooks` to see those there are.",
  },
  hook_not_failed: {
    meaning: "The hook run was not given up: it went through, or it is still being tried.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Only a hook that was given up can be tried again by hand.",
  },
  work_source_failed: {
    meaning: "The place that work is taken from did not answer, or refused.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Check `work_source` of the agent, its token and the network.",
  },
  webhook_not_found: {
    meaning: "No webhook has this address.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "The address is `/hooks/<agent>/<schedule>`, of a schedule with `type: webhook`.",
  },
  webhook_off: {
    meaning: "The schedule of this webhook is switched off.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Switch it on with `herdctl schedules enable`, and send it again.",
  },
  signature_wrong: {
    meaning: "A delivery is not signed, is signed with another secret, or is too old.",
    exitCode: exitCodes.refused,
    status: 401,
    hint: "Sender and fleet must have the same secret, and clocks that agree.",
  },
  secret_missing: {
    meaning: "The secret that deliveries are signed with is not set, or has fewer than 16 bytes.",
    exitCode: exitCodes.badInput,
    status: 503,
    hint: "Set the variable that `secret_env` names, in the environment of the fleet or in `.env`.",
  },
  media_type_wrong: {
    meaning: "A delivery came in a form that is not taken.",
    exitCode: exitCodes.badInput,
    status: 415,
    hint: "Send the payload as JSON, not compressed.",
  },
  too_many_deliveries: {
    meaning: "More deliveries came than the schedule's `rate_limit` lets in.",
    exitCode: exitCodes.refused,
    status: 429,
    hint: "Come again later, or raise `rate_limit` of the schedule.",
  },
  delivery_not_found: {
    meaning: "No delivery has this id.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl deliveries` to see those there are.",
  },
  foreign_request: {
    meaning:
      "A request to the port came under a name, or from a site, that is not the fleet's own.",
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Use the address that `herdctl open` prints, or add the name to `server.names`.",
  },
  token_missing: {
    meaning: "A request to the port carries no token.",
    exitCode: exitCodes.refused,
    status: 401,
    hint: "Run `herdctl open` for a link to sign in, or send `Authorization: Bearer` with a token: `herdctl token create NAME --scope SCOPE`.",
  },
  token_wrong: {
    meaning: "The token or the link to sign in is not valid, or not any more.",
    exitCode: exitCodes.refused,
    status: 401,
    hint: "Run `herdctl open` for a new link, or `herdctl token list` to see which tokens exist and when they expire.",
  },
  token_unusable: {
    meaning: "The file that holds the token is missing, or cannot be used.",
    exitCode: exitCodes.badInput,
    status: 503,
    hint: "Remove the file and run `herdctl reload`: a new one is made.",
  },
  insufficient_scope: {
    meaning: "The token or sign-in does not have the scope that this request needs.",
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Use a token with that scope: `herdctl token create NAME --scope SCOPE`, or sign in with `herdctl open`.",
  },
  token_exists: {
    meaning: "A token with this name exists already.",
    exitCode: exitCodes.badInput,
    status: 409,
    hint: "Choose another name, or revoke the old one with `herdctl token revoke NAME`.",
  },
  token_not_found: {
    meaning: "No token has this name.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl token list` to list the tokens.",
  },
  login_not_found: {
    meaning: "No signed-in browser has this id.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl logins` to list the browsers that are signed in.",
  },
  too_many_failures: {
    meaning: "Too many wrong tokens came in a short time.",
    exitCode: exitCodes.refused,
    status: 429,
    hint: "Wait a minute.",
  },
  only_local: {
    meaning: "This call is answered on the socket only, never on the port.",
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Ask over the socket of the fleet, as `herdctl open` does.",
  },
} as const satisfies Record<string, ErrorFacts>;

export type ErrorCode = keyof typeof errorTable;
