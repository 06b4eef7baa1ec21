import type { Environment } from "../../config/environment.ts";

const ordinary = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|LC_\w+)$/;

/** What an operator's command on the host is told of the fleet's own environment: no secret, no key. */
export function hostEnvironment(fleet: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fleet).flatMap(([name, value]) =>
      value !== undefined && ordinary.test(name) ? [[name, value]] : [],
    ),
  );
}
