import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolderWith } from "./temp-folder.ts";

/** A program that answers like `claude` but immediately, for tests with very many jobs. */
export function writeFakeClaude(): string {
  const file = join(tempFolderWith({}), "claude");
  writeFileSync(file, program, { mode: 0o755 });
  return file;
}

const program = `#!/bin/bash
[ "$1" = --version ] && { echo "2.1.325 (Claude Code)"; exit; }
for arg; do case $arg in --session-id=*) id=\${arg#*=} ;; esac; done
read -r _
say() { printf '{"session_id":"%s","uuid":"%s",%s}\\n' "$id" "$id" "$1"; }
say '"type":"system","subtype":"init","cwd":"/","tools":[],"mcp_servers":[],"model":"m","permissionMode":"default","slash_commands":[],"apiKeySource":"none"'
say '"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"It is done.","duration_ms":1,"duration_api_ms":1,"total_cost_usd":0,"usage":{},"modelUsage":{},"permission_denials":[]'
while read -r _; do :; done
`;
