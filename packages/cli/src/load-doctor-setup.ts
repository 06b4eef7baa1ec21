import { loadFleet } from "@herdctl/config";
import type { DoctorTarget } from "@herdctl/core/internal";
import { findFleetFileUnchecked, ProblemsError, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "./command.ts";

/** The target of the doctor. Without a fleet file it checks only the machine. */
export function loadDoctorSetup({
  arguments: [agent],
  options,
  cwd,
  env,
}: CommandContext): DoctorTarget {
  const config = textOption(options, "config");
  const file = locateFleetFileIfAny(config, cwd, agent !== undefined);
  if (file === undefined) return { kind: "none" };
  try {
    return { kind: "loaded", loaded: loadFleet(file, env) };
  } catch (error) {
    if (error instanceof ProblemsError) return { kind: "wrong", file, problems: error.problems };
    if (!(error instanceof UserError) || error.code !== "dubious_ownership") throw error;
    return { kind: "refused", file, message: error.message, hint: error.hint };
  }
}

function locateFleetFileIfAny(
  config: string | undefined,
  cwd: string,
  isRequired: boolean,
): string | undefined {
  try {
    return findFleetFileUnchecked({ config, cwd });
  } catch (error) {
    const isNotFound = error instanceof UserError && error.code === "config_not_found";
    if (isNotFound && config === undefined && !isRequired) return undefined;
    throw error;
  }
}
