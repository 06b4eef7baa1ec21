import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { UserError } from "../errors/user-error.ts";
import { GitHubSource } from "./github-source.ts";
import type { WorkSource } from "./work-source.ts";

/** The work source of an agent, if it has one. */
export function openSource(
  { work_source: config, name }: ResolvedAgent,
  environment: Environment,
  signal: AbortSignal,
): WorkSource | undefined {
  if (!config) return undefined;
  const token = environment[config.token_env];
  if (token) return new GitHubSource(config, token, signal);
  throw new UserError(
    "work_source_failed",
    `\`${name}\` has no token: ${config.token_env} is not set`,
  );
}
