import { join } from "node:path";
import { loadFleet, UserError } from "@herdctl/core";
import { exitCodes } from "@herdctl/core/light";
import { readOnlyToken, readToken } from "@herdctl/server";
import type { Call } from "../command.ts";
import { fleetFileOf } from "../fleet-access.ts";

/** On standard output only when it is asked for, so that a script can take it from there. */
export async function run(call: Call): Promise<number> {
  const { options, env, terminal } = call;
  const token = tokenOf(fleetFileOf(call), env);
  const wanted = options.readOnly === true ? readOnlyToken(token) : token;
  if (terminal.json) terminal.printJson({ token: wanted });
  else terminal.print(wanted);
  return exitCodes.success;
}

function tokenOf(file: string, env: NodeJS.ProcessEnv): string {
  const { fleet, environment } = loadFleet(file, env);
  const { token_env } = fleet.server;
  const own = token_env === undefined ? undefined : environment[token_env]?.trim();
  if (own) return own;
  try {
    return readToken(join(fleet.stateDir, "token"));
  } catch (cause) {
    throw new UserError("token_unusable", "this fleet has no token yet", {
      hint: "Start it once with `herdctl start`.",
      cause,
    });
  }
}
