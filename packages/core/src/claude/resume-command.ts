import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment, LoadedFleet } from "@herdctl/config";
import { type Job, type Session, UserError } from "@herdctl/protocol";
import { findClaude } from "./binary.ts";

export interface ResumeCommand {
  program: string;
  args: string[];
  cwd: string;
  /** Changes to the environment of the user who runs it; undefined removes a variable. */
  env: Record<string, string | undefined>;
}

/** The command with which a person resumes a session in the same folder, home and account as the agent. */
export function buildResumeCommand(
  { fleet, environment }: LoadedFleet,
  session: Session,
  credential: Job["credential"],
): ResumeCommand {
  const found = findClaude({ claudePath: fleet.claude_path, env: environment });
  if (found.kind === "problem") {
    throw new UserError("runtime_missing", found.message, { hint: found.hint });
  }
  const apiEnvironment = Object.fromEntries(apiVariables.map((name) => [name, environment[name]]));
  return {
    program: found.path,
    args: ["--resume", session.session_id],
    cwd: session.cwd,
    env: {
      ...apiEnvironment,
      ...(credential === "subscription" && unsetKeys),
      ...configDirVariable(session, environment),
    },
  };
}

/** Claude Code treats CLAUDE_CONFIG_DIR differently from the default, even if both are the same folder. */
export function configDirVariable(
  { config_dir }: Pick<Session, "config_dir">,
  environment: Environment,
): { CLAUDE_CONFIG_DIR: string | undefined } {
  const defaultDir =
    environment.CLAUDE_CONFIG_DIR ?? join(environment.HOME ?? homedir(), ".claude");
  const isUsual = config_dir === null || config_dir === defaultDir;
  return { CLAUDE_CONFIG_DIR: isUsual ? environment.CLAUDE_CONFIG_DIR : config_dir };
}

/** Variables for access to the API that `.env` may contain. */
const apiVariables = [
  "ANTHROPIC_BASE_URL",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
];

/** With a key, Claude Code would bill the API for a session that used the subscription. */
const unsetKeys = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_AUTH_TOKEN: undefined };
