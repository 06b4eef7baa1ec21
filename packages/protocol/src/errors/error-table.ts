/** Exit codes of every herdctl command. */
export const exitCodes = {
  success: 0,
  jobFailed: 1,
  badInput: 2,
  unreachable: 3,
  refused: 4,
  bug: 70,
} as const;

export interface ErrorDefinition {
  meaning: string;
  exitCode: number;
  /** HTTP status of the control API. */
  status: number;
  hint: string;
  /** The hint for clients of the API, where the usual one is about the command line. */
  apiHint?: string;
}

/** Every error that a user can fix: meaning, hint, exit code and HTTP status. */
export const errorTable = {
  import_failed: {
    meaning: "A fleet in another format cannot be imported.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Fix the problems listed above. Nothing was written.",
  },
  config_invalid: {
    meaning: "The fleet file, or a file that it refers to, has errors.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Fix the problems listed above, then run `herdctl config check`.",
    apiHint: "Fix the problems listed above, then send `POST /v1/reload`.",
  },
  config_not_found: {
    meaning: "There is no fleet file in this folder, in a parent folder, or at the given path.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl init` to create one here, or give its path with `--config`.",
    apiHint: "Create a `herdctl.yaml`, or pass the path of an existing one.",
  },
  dubious_ownership: {
    meaning:
      "The fleet file, `.env`, an agent file or the state folder belongs to another user, or other users can change it. herdctl does not use it.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Fix the owner or mode, or add the folder to `HERDCTL_SAFE_DIRECTORY`.",
  },
  document_invalid: {
    meaning: "A rehearsal script, or another YAML document, has errors.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Fix the problems listed above and try again.",
  },
  file_unreadable: {
    meaning: "The given file cannot be read.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Check that the file exists and that you have permission to read it.",
  },
  file_exists: {
    meaning: "The file to write already exists. It was not overwritten.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Move the existing file, or choose another folder.",
  },
  file_changed: {
    meaning: "The file was changed by someone else after it was read. Nothing was written.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Load the file again and repeat the edit.",
  },
  edit_refused: {
    meaning: "The configuration cannot be edited here. Nothing was written.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Edit the file itself.",
  },
  usage: {
    meaning: "An argument or option of the command is missing or invalid.",
    exitCode: exitCodes.badInput,
    status: 400,
    hint: "Run the command with `--help` to show its arguments and options.",
    apiHint: "Correct the value. `GET /v1/openapi.json` describes all requests.",
  },
  settings_rejected: {
    meaning: "Claude Code settings are invalid, or Claude Code did not apply all of them.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Correct the settings, or update Claude Code if it is too old to support them.",
  },
  options_rejected: {
    meaning: "Claude Code rejected options of an agent when it started.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Correct the options that the message names, or update Claude Code.",
  },
  sdk_missing: {
    meaning: "An agent uses the Agent SDK, which is not installed.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Install it with `npm install @anthropic-ai/claude-agent-sdk`, or use `runtime: cli`.",
  },
  credential_unavailable: {
    meaning: "The credential of a provider could not be fetched.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl doctor` to check the credentials of all agents.",
    apiHint: "Check the credential of the agent's provider on the machine of the fleet.",
  },
  address_in_use: {
    meaning: "Another program already listens on the port or socket.",
    exitCode: exitCodes.unreachable,
    status: 409,
    hint: "Stop that program, or choose another port or socket.",
  },
  fleet_running: {
    meaning: "The fleet of this folder is already running.",
    exitCode: exitCodes.unreachable,
    status: 409,
    hint: "Use the running fleet, or stop it with `herdctl stop`.",
    apiHint: "Use the running fleet, or stop it with `POST /v1/shutdown`.",
  },
  fleet_unreachable: {
    meaning: "The fleet does not answer on its socket or address.",
    exitCode: exitCodes.unreachable,
    status: 503,
    hint: "Start the fleet with `herdctl start`.",
    apiHint: "Start the fleet, then try again.",
  },
  service_unavailable: {
    meaning: "This system has no supported service manager, or it does not answer.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl start --detach`, or configure your process supervisor to run `herdctl start --leave-jobs`.",
    apiHint: "Start the fleet under your process supervisor.",
  },
  state_damaged: {
    meaning: "A file in the state folder is damaged.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "herdctl has not changed anything. `herdctl doctor --fix` restores the last backup. With `--empty-state`, it continues with an empty state if there is none.",
    apiHint: "herdctl has not changed anything. Restore a backup on the machine of the fleet.",
  },
  state_newer: {
    meaning: "The state was written by a newer herdctl.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Install that version of herdctl again, or use another state folder.",
  },
  state_older: {
    meaning: "The state was written by an older herdctl, and this command only reads.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Run `herdctl start` once to migrate the state.",
    apiHint: "Start a fleet once on this state to migrate it.",
  },
  state_unavailable: {
    meaning: "The state folder, or the shared PostgreSQL database, cannot be used.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Check that the state folder exists, that you have write permission, and that its disk has free space.",
  },
  store_refused: {
    meaning: "The fleet cannot use the PostgreSQL database in `store`.",
    exitCode: exitCodes.badInput,
    status: 503,
    hint: "Correct the address in `store`: user, password, host and database.",
  },
  node_refused: {
    meaning:
      "This node cannot join the fleet, because the running nodes have a different configuration.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Copy the same configuration files to all nodes. To roll out these files, run `herdctl reload` on a running node.",
    apiHint:
      "Copy the same configuration files to all nodes. To roll out these files, send `POST /v1/reload` to a running node.",
  },
  node_fenced: {
    meaning: "The lease of this node has expired, so other nodes may have taken over its jobs.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Wait: the node rejoins the fleet automatically.",
  },
  agent_not_found: {
    meaning: "The fleet has no agent with this name.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl status` to list agents.",
    apiHint: "`GET /v1/agents` lists agents.",
  },
  schedule_not_found: {
    meaning: "The agent has no schedule with this name, or none that an agent created.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl schedules` to list schedules.",
    apiHint: "`GET /v1/schedules` lists schedules.",
  },
  artifact_not_found: {
    meaning: "The job has kept no file with this name.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl artifacts JOB` to list the files that a job kept.",
    apiHint: "`GET /v1/jobs/{id}/artifacts` lists the files that a job kept.",
  },
  note_not_found: {
    meaning: "The agent has no note with this name.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl memory AGENT` to list the notes of an agent.",
    apiHint: "`GET /v1/agents/{agent}/notes` lists the notes of an agent.",
  },
  job_not_found: {
    meaning: "No job has this ID or ID prefix, or several jobs have this prefix.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl jobs` to list jobs.",
    apiHint: "`GET /v1/jobs` lists jobs.",
  },
  session_not_found: {
    meaning: "No session has this ID.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl sessions` to list sessions.",
    apiHint: "`GET /v1/sessions` lists sessions.",
  },
  session_unavailable: {
    meaning: "The session exists but cannot be resumed.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl sessions` to see which sessions can be resumed.",
    apiHint: "`GET /v1/sessions` shows which sessions can be resumed.",
  },
  docker_denied: {
    meaning: "The user that runs the fleet has no permission to use the Docker engine.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Add the user to the group `docker` with `sudo usermod -aG docker USER`, log in again, and restart the fleet.",
  },
  docker_unavailable: {
    meaning:
      "The agent runs in a container, but the Docker engine does not answer. herdctl never runs it on the host instead.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Start the Docker engine. To run the agent on the host, set `docker.enabled: false`.",
  },
  workspace_unusable: {
    meaning: "The working directory or a volume cannot be used in a container.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Check `working_directory`, `docker.user` and `docker.volumes`.",
  },
  disk_full: {
    meaning:
      "The disk of the working directory or of the state has too little free space for a run.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Free some space, or lower `docker.min_free_disk`.",
  },
  docker_remote: {
    meaning: "The configured Docker engine is on another machine.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Agent containers mount folders and sockets of this machine. Use a local engine, such as `unix:///var/run/docker.sock`.",
  },
  container_refused: {
    meaning:
      "The container of an agent could not be started with the settings in its `docker` block.",
    exitCode: exitCodes.refused,
    status: 422,
    hint: "Correct the agent's `docker` block. Run `herdctl doctor` for details.",
    apiHint: "Correct the agent's `docker` block. The message names the setting.",
  },
  image_missing: {
    meaning: "The image of the agent does not exist on this machine.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl docker build`, or set another image in `docker.image`.",
    apiHint: "Build the image on the machine of the fleet, or set another image in `docker.image`.",
  },
  image_not_built: {
    meaning: "A step of the image build failed.",
    exitCode: exitCodes.jobFailed,
    status: 422,
    hint: "Fix the failed step and run `herdctl docker build` again.",
    apiHint: "Fix the failed step and build the image again.",
  },
  runtime_missing: {
    meaning: "The `claude` program cannot be found or run.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Install Claude Code, or set `claude_path` in herdctl.yaml to its path.",
  },
  request_invalid: {
    meaning: "A request to the control API is invalid.",
    exitCode: exitCodes.badInput,
    status: 400,
    hint: "Correct the fields named above and send the request again.",
  },
  request_too_large: {
    meaning: "A request to the control API is too large.",
    exitCode: exitCodes.badInput,
    status: 413,
    hint: "Save the text in a file of the workspace and refer to the file in the prompt.",
  },
  route_not_found: {
    meaning: "The control API has no such route.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "`GET /v1/openapi.json` lists all routes. The fleet may be older than the client.",
  },
  approval_closed: {
    meaning: "The request or question was already answered, or it has expired.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl approvals` to list pending requests and questions.",
    apiHint: "`GET /v1/approvals` lists pending requests and questions.",
  },
  approval_not_found: {
    meaning: "No request or question has this ID.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl approvals` to list pending requests and questions.",
    apiHint: "`GET /v1/approvals` lists pending requests and questions.",
  },
  rule_not_found: {
    meaning: "No permission rule has this ID.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl rules` to list the rules.",
    apiHint: "`GET /v1/rules` lists the rules.",
  },
  approval_not_shown: {
    meaning:
      "An MCP client tried to allow or answer a request that the MCP tools cannot show completely.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl approvals`, or open the dashboard, to read and answer the complete request.",
    apiHint:
      "Read the complete request with `GET /v1/approvals` or in the dashboard, and answer it there.",
  },
  reply_unfit: {
    meaning: "The answer is not one of the accepted choices.",
    exitCode: exitCodes.badInput,
    status: 422,
    hint: "Run `herdctl approvals` to show the question and its choices.",
    apiHint: "`GET /v1/approvals` shows the question and its choices.",
  },
  hook_not_found: {
    meaning: "No hook run has this ID.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl hooks` to list hook runs.",
    apiHint: "`GET /v1/hooks` lists hook runs.",
  },
  hook_not_failed: {
    meaning: "The hook run has not failed: it succeeded, or herdctl is still retrying it.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Run `herdctl hooks --failed` to list the hook runs that can be retried.",
    apiHint: "`GET /v1/hooks?status=failed` lists the hook runs that can be retried.",
  },
  work_source_failed: {
    meaning: "The work source did not answer, or refused the request.",
    exitCode: exitCodes.refused,
    status: 503,
    hint: "Check the agent's `work_source`, its token and the network.",
  },
  webhook_not_found: {
    meaning: "There is no webhook at this address.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Use `/hooks/<agent>/<schedule>` with a schedule that has `type: webhook`.",
  },
  webhook_off: {
    meaning: "The schedule of this webhook is disabled.",
    exitCode: exitCodes.refused,
    status: 409,
    hint: "Enable it with `herdctl schedules enable`, and send the delivery again.",
    apiHint:
      "Enable the schedule with `PATCH /v1/agents/{agent}/schedules/{schedule}`, and send the delivery again.",
  },
  signature_wrong: {
    meaning: "A delivery has no signature, is signed with another secret, or is too old.",
    exitCode: exitCodes.refused,
    status: 401,
    hint: "Check that the sender and the fleet have the same secret and synchronized clocks.",
  },
  secret_missing: {
    meaning: "The secret of a webhook is not set, or has fewer than 16 bytes.",
    exitCode: exitCodes.badInput,
    status: 503,
    hint: "Set the variable named in `secret_env`, in the environment of the fleet or in `.env`.",
  },
  media_type_wrong: {
    meaning: "The content type of a delivery is not supported.",
    exitCode: exitCodes.badInput,
    status: 415,
    hint: "Send the payload as uncompressed JSON.",
  },
  too_many_deliveries: {
    meaning: "The sender exceeded the `rate_limit` of the schedule.",
    exitCode: exitCodes.refused,
    status: 429,
    hint: "Send the delivery again later, or raise the schedule's `rate_limit`.",
  },
  delivery_not_found: {
    meaning: "No delivery has this ID.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl deliveries` to list deliveries.",
    apiHint: "`GET /v1/deliveries` lists deliveries.",
  },
  foreign_request: {
    meaning:
      "A request to the HTTP server has an unknown host name, or comes from another website.",
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Use the address that `herdctl open` prints, or add the host name to `server.allowed_hosts`.",
    apiHint:
      "Use a host name of this machine, or one that `server.allowed_hosts` of the fleet contains.",
  },
  token_missing: {
    meaning: "A request to the HTTP server has no token.",
    exitCode: exitCodes.refused,
    status: 401,
    hint: "In a browser, sign in with the link from `herdctl open`. In a program, send `Authorization: Bearer` with a token from `herdctl token create NAME --scope SCOPE`.",
    apiHint:
      "Send `Authorization: Bearer` with a token. In a browser, sign in with a login link from the operator of the fleet.",
  },
  token_wrong: {
    meaning: "The token or login link is invalid or has expired.",
    exitCode: exitCodes.refused,
    status: 401,
    hint: "Run `herdctl open` for a new link, or `herdctl token list` to list tokens and their expiry.",
    apiHint: "Ask the operator of the fleet for a new token or login link.",
  },
  token_unusable: {
    meaning: "The token file is missing or cannot be used.",
    exitCode: exitCodes.badInput,
    status: 503,
    hint: "Remove the file and run `herdctl reload` to create a new token.",
    apiHint: "The operator must remove the file and reload the fleet to create a new token.",
  },
  insufficient_scope: {
    meaning: "The token or sign-in does not have the scope that this request needs.",
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Create a token with that scope: `herdctl token create NAME --scope SCOPE`, or sign in with `herdctl open`.",
    apiHint: "Use a token that has this scope. `POST /v1/tokens` creates one.",
  },
  token_exists: {
    meaning: "A token with this name already exists.",
    exitCode: exitCodes.badInput,
    status: 409,
    hint: "Choose another name, or revoke the old one with `herdctl token revoke NAME`.",
    apiHint: "Choose another name, or revoke the old one with `DELETE /v1/tokens/{name}`.",
  },
  token_not_found: {
    meaning: "No token has this name.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl token list` to list the tokens.",
    apiHint: "`GET /v1/tokens` lists tokens.",
  },
  login_not_found: {
    meaning: "No signed-in browser has this ID.",
    exitCode: exitCodes.badInput,
    status: 404,
    hint: "Run `herdctl logins` to list signed-in browsers.",
    apiHint: "`GET /v1/logins` lists signed-in browsers.",
  },
  too_many_failures: {
    meaning: "Too many requests with an invalid token were sent in a short time.",
    exitCode: exitCodes.refused,
    status: 429,
    hint: "Wait a minute, then try again with a valid token.",
  },
  only_local: {
    meaning: "This route is available only on the fleet's unix socket, not on the HTTP port.",
    exitCode: exitCodes.refused,
    status: 403,
    hint: "Send the request over the fleet's socket, as `herdctl open` does.",
    apiHint: "Send the request over the fleet's socket.",
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorTable;
