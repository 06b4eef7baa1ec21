import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { exitCodes, UserError } from "@herdctl/protocol";
import { deriveReadOnlyToken, readToken } from "@herdctl/server";
import type { CommandContext } from "../command.ts";
import { resolveFleetFile } from "../find-fleet.ts";

/** Prints only the token to standard output, so that a script can read it. */
export async function run(context: CommandContext): Promise<number> {
  const { options, env, terminal } = context;
  const token = readAdminToken(resolveFleetFile(context), env);
  const shownToken = options.readOnly === true ? deriveReadOnlyToken(token) : token;
  if (terminal.isJson) terminal.printJson({ token: shownToken });
  else terminal.print(shownToken);
  return exitCodes.success;
}

function readAdminToken(file: string, env: NodeJS.ProcessEnv): string {
  const { fleet, environment } = loadFleet(file, env);
  const { token_env } = fleet.server;
  const configuredToken = token_env === undefined ? undefined : environment[token_env]?.trim();
  if (configuredToken) return configuredToken;
  try {
    return readToken(join(fleet.stateDir, "token"));
  } catch (cause) {
    throw new UserError("token_unusable", "the fleet has no token yet", {
      hint: "Start it once with `herdctl start`.",
      cause,
    });
  }
}
