import { chmodSync } from "node:fs";
import { join } from "node:path";
import { claudeBinary } from "../../support/claude-binaries.ts";
import { type RegisterCleanup, tempFolderWith } from "../../support/temp-folder.ts";

/**
 * A program with the protocol of `claude` that records its runs in its working directory. It holds
 * a kernel lock on that directory while it lives, so a second concurrent run of an agent, on any
 * node, finds it taken. In a directory named `real…` it starts the real `claude` under the same
 * lock.
 */
export function writeLockingClaude(onCleanup: RegisterCleanup): string {
  const file = join(tempFolderWith({ claude: program }, onCleanup), "claude");
  chmodSync(file, 0o755);
  return file;
}

/** The file in an agent's folder with lines of the form `JOB begin|end|overlap NODE TIME`. */
export const runsFileName = "runs";

const program = `#!/bin/bash
[ "$1" = --version ] && { echo "2.1.325 (Claude Code)"; exit; }
note() { echo "$HERDCTL_JOB $1 \${HOME} $EPOCHREALTIME" >> ${runsFileName}; }
exec 9>> lock
flock -n 9 || note overlap
note begin
case $PWD in */real*) exec ${claudeBinary("325")} "$@" ;; esac
for arg; do case $arg in --session-id=*|--resume=*) id=\${arg#*=} ;; esac; done
read -r _
say() { printf '{"session_id":"%s","uuid":"%s",%s}\\n' "$id" "$id" "$1"; }
say '"type":"system","subtype":"init","cwd":"/","tools":[],"mcp_servers":[],"model":"m","permissionMode":"default","slash_commands":[],"apiKeySource":"none"'
sleep 0.$((RANDOM % 5)) 9>&-
note end
say '"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"It is done.","duration_ms":1,"duration_api_ms":1,"total_cost_usd":0,"usage":{},"modelUsage":{},"permission_denials":[]'
while read -r _; do :; done
`;
