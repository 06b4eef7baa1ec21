import { runMarker } from "../../environment.ts";

/** What a run is, for those of its processes that are not claude's. */
export interface RunSigns {
  jobId: string;
  runToken: string;
}

/**
 * The whole environment of a server that we run: a short list of ours, its own, and the signs of
 * the run. Nothing of the agent's: an agent in a container may have written that itself.
 */
export function serverEnvironment(
  fleet: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
  { jobId, runToken }: RunSigns,
): Record<string, string> {
  const inherited = Object.entries(fleet).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isInherited(entry[0]),
  );
  const signs = { HERDCTL_JOB: jobId, [runMarker]: runToken };
  return { ...Object.fromEntries(inherited), ...own, ...signs };
}

const ordinary = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
]);

function isInherited(name: string): boolean {
  return ordinary.has(name) || name.startsWith("LC_");
}
