import { existsSync } from "node:fs";
import type { Environment } from "@herdctl/config";
import type { Session, SessionView } from "@herdctl/protocol";
import { isExpired } from "@herdctl/protocol/schemas";
import { configDirOf } from "../../claude/credential.ts";
import { sessionFilePath } from "../../claude/session-files/session-file-path.ts";

/** `localNodeId`: this node, where several share the state. */
export function viewSession(
  session: Session,
  environment: Environment,
  now: Date,
  localNodeId?: string,
): SessionView {
  const isElsewhere =
    localNodeId !== undefined && session.node !== null && session.node !== localNodeId;
  return {
    ...session,
    expired: isExpired(session, now),
    obstacle: isElsewhere ? otherNodeObstacle(session) : findObstacle(session, environment),
  };
}

function otherNodeObstacle({ session_id: id, agent }: Session): SessionView["obstacle"] {
  return {
    short: "other node",
    message: `session ${id} is on another node`,
    hint: `Use that machine, or continue with \`herdctl trigger ${agent} --resume ${id}\`.`,
  };
}

function findObstacle(session: Session, environment: Environment): SessionView["obstacle"] {
  const { session_id: id, session_home: place, cwd, config_dir } = session;
  if (place === "docker") {
    return {
      short: "in docker",
      message: `session ${id} is in a container`,
      hint: `Continue it with \`herdctl trigger ${session.agent} --resume ${id}\`.`,
    };
  }
  if (!existsSync(cwd)) {
    return {
      short: "no folder",
      message: `the folder of session ${id} is gone: ${cwd}`,
      hint: "Restore the folder: Claude Code finds a session only from there.",
    };
  }
  const configDir = config_dir ?? configDirOf(environment);
  const transcript = sessionFilePath({ place, configDir, cwd }, id);
  if (existsSync(transcript)) return null;
  return {
    short: "no transcript",
    message: `the transcript of session ${id} is gone: ${transcript}`,
    hint: "Start a new session. Claude Code deletes old transcripts.",
  };
}
