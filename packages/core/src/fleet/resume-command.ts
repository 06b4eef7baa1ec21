import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { LoadedFleet } from "../config/load.ts";
import { UserError } from "../errors/user-error.ts";
import { findClaude } from "../runner/claude-binary.ts";
import type { Job } from "../state/job.ts";
import type { Session } from "../state/session.ts";

export interface ResumeCommand {
  program: string;
  args: string[];
  cwd: string;
  /** What differs from the environment of whoever runs it; undefined takes a variable away. */
  env: Record<string, string | undefined>;
}

/** How a person goes on with a session by hand, in the same folder, home and account as the agent. */
export function resumeCommand(
  { fleet, environment }: LoadedFleet,
  session: Session,
  credential: Job["credential"],
): ResumeCommand {
  const found = findClaude({ claudePath: fleet.claude_path, env: environment });
  if (found.kind === "problem") {
    throw new UserError("runtime_missing", found.message, { hint: found.hint });
  }
  const connection = Object.fromEntries(connections.map((name) => [name, environment[name]]));
  return {
    program: found.path,
    args: ["--resume", session.session_id],
    cwd: session.cwd,
    env: {
      ...connection,
      ...(credential === "subscription" && withoutKey),
      ...homeOf(session, environment),
    },
  };
}

/** Named in a variable, even the usual home is no longer the usual one to Claude Code. */
function homeOf({ config_dir }: Session, environment: Environment): ResumeCommand["env"] {
  const usual = environment.CLAUDE_CONFIG_DIR ?? join(environment.HOME ?? homedir(), ".claude");
  const isUsual = config_dir === null || config_dir === usual;
  return { CLAUDE_CONFIG_DIR: isUsual ? environment.CLAUDE_CONFIG_DIR : config_dir };
}

/** What `.env` may hold of the way to the API. */
const connections = [
  "ANTHROPIC_BASE_URL",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
];

/** With a key at hand Claude Code would bill the API for what ran on the subscription. */
const withoutKey = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_AUTH_TOKEN: undefined };
