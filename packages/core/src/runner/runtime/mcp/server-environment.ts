import type { Environment } from "../../../config/environment.ts";
import { runMarker } from "../../environment.ts";

/**
 * The whole environment of a server that we run: a short list of the fleet's, its own, and the
 * signs by which the processes of a run are known. Nothing else of the run's: the agent may have
 * written that itself.
 */
export function serverEnvironment(
  fleet: Environment,
  own: Readonly<Record<string, string>>,
  run: Environment,
): Record<string, string> {
  return { ...pick(fleet, isInherited), ...own, ...pick(run, (name) => signs.has(name)) };
}

const signs = new Set(["HERDCTL_JOB", runMarker]);

const ordinary = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
]);

function isInherited(name: string): boolean {
  return ordinary.has(name) || name.startsWith("LC_");
}

function pick(from: Environment, isPicked: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(from).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isPicked(entry[0]),
    ),
  );
}
