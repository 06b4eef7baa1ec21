import { chmodSync } from "node:fs";
import { join } from "node:path";
import { claudeBinary } from "../../support/claude.ts";
import { folderWith, type WhenOver } from "../../support/folder.ts";

/**
 * A program that speaks as `claude` does and notes when it ran, in the folder that it works in. It
 * holds a lock of the kernel on that folder for as long as it lives: where two of one agent are at
 * work at once, whichever nodes they are on, the second finds it taken. In a folder named `real…`
 * the real one runs under the same lock.
 */
export function lockingClaude(whenOver: WhenOver): string {
  const file = join(folderWith({ claude: program }, whenOver), "claude");
  chmodSync(file, 0o755);
  return file;
}

/** What is kept in the folder of an agent: `JOB begin|end|overlap NODE TIME`, one a line. */
export const runsFile = "runs";

const program = `#!/bin/bash
[ "$1" = --version ] && { echo "2.1.325 (Claude Code)"; exit; }
note() { echo "$HERDCTL_JOB $1 \${HOME} $EPOCHREALTIME" >> ${runsFile}; }
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
