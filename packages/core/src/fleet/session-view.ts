import { existsSync } from "node:fs";
import type { Environment } from "../config/environment.ts";
import { configDirOf } from "../runner/prepare-run.ts";
import { sessionFilePath } from "../runner/runtime/session-file/path.ts";
import { isExpired, type Session } from "../state/session.ts";

/** A session with what cannot be read from its record alone. */
export interface SessionView extends Session {
  expired: boolean;
  /** Why a person cannot go on with it in a terminal; null when they can. */
  obstacle: { short: string; message: string; hint: string } | null;
}

/** `here` is the node that looks, where several share the state. */
export function viewSession(
  session: Session,
  environment: Environment,
  now: Date,
  here?: string,
): SessionView {
  const isElsewhere = here !== undefined && session.node !== null && session.node !== here;
  return {
    ...session,
    expired: isExpired(session, now),
    obstacle: isElsewhere ? onOtherNode(session) : obstacleOf(session, environment),
  };
}

function onOtherNode({ session_id: id, agent }: Session): SessionView["obstacle"] {
  return {
    short: "other node",
    message: `session ${id} lies on another node`,
    hint: `Do it on that machine, or go on by \`herdctl trigger ${agent} --resume ${id}\`.`,
  };
}

function obstacleOf(session: Session, environment: Environment): SessionView["obstacle"] {
  const { session_id: id, place, cwd, config_dir } = session;
  if (place === "docker") {
    return {
      short: "in docker",
      message: `session ${id} lives in a container`,
      hint: `Go on with it by \`herdctl trigger ${session.agent} --resume ${id}\`.`,
    };
  }
  if (!existsSync(cwd)) {
    return {
      short: "no folder",
      message: `the folder of session ${id} is gone: ${cwd}`,
      hint: "Bring the folder back; Claude Code finds a session only from there.",
    };
  }
  const configDir = config_dir ?? configDirOf(environment);
  const transcript = sessionFilePath({ place, configDir, cwd }, id);
  if (existsSync(transcript)) return null;
  return {
    short: "no transcript",
    message: `the transcript of session ${id} is gone: ${transcript}`,
    hint: "Start a fresh session; Claude Code itself deletes old transcripts.",
  };
}
