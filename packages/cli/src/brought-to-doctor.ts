import { loadFleet, locateFleetFile, ProblemsError, type SetUp, UserError } from "@herdctl/core";
import { type Call, textOption } from "./command.ts";

/** What the doctor is to look at. Outside a fleet there is still a machine. */
export function broughtToDoctor({ arguments: [agent], options, cwd, env }: Call): SetUp {
  const config = textOption(options, "config");
  const file = fleetFile(config, cwd, agent !== undefined);
  if (file === undefined) return { kind: "none" };
  try {
    return { kind: "loaded", loaded: loadFleet(file, env) };
  } catch (error) {
    if (error instanceof ProblemsError) return { kind: "wrong", file, problems: error.problems };
    if (!(error instanceof UserError) || error.code !== "dubious_ownership") throw error;
    return { kind: "refused", file, message: error.message, hint: error.hint };
  }
}

function fleetFile(config: string | undefined, cwd: string, isNeeded: boolean): string | undefined {
  try {
    return locateFleetFile({ config, cwd });
  } catch (error) {
    const isNone = error instanceof UserError && error.code === "config_not_found";
    if (isNone && config === undefined && !isNeeded) return undefined;
    throw error;
  }
}
