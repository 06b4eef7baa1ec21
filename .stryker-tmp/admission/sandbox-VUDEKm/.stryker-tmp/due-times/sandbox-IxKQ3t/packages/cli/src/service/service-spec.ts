/** A service: one fleet, and the program that runs it. */
export interface ServiceSpec {
  /** The name of the service, such as `herdctl-my-fleet`. */
  name: string;
  fleet: string;
  fleetFile: string;
  fleetDir: string;
  /** Environment variables for the service, in a file that only this user can read. */
  environmentFile: string;
  logDir: string;
  /** The PATH of the service. */
  searchPath: string;
  /** Absolute paths of Node and herdctl, because a service starts without a shell. */
  nodePath: string;
  scriptPath: string;
  /** Node options such as `--role`, as command-line flags. */
  nodeFlags?: readonly string[];
}

/** The command line of the service. */
export function serviceStartCommand({
  nodePath,
  scriptPath,
  fleetFile,
  nodeFlags = [],
}: ServiceSpec): string[] {
  return [nodePath, scriptPath, "start", "--leave-jobs", ...nodeFlags, "--config", fleetFile];
}
