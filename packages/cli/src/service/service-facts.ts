/** What a service is made of: one fleet, and the program that runs it. */
export interface ServiceFacts {
  /** The name of the service, such as `herdctl-my-fleet`. */
  name: string;
  fleet: string;
  fleetFile: string;
  fleetDir: string;
  /** For this user's eyes only: it holds what the service is given of the environment. */
  environmentFile: string;
  logDir: string;
  /** Where programs are looked for. */
  path: string;
  /** Node and our own program, by absolute paths: a service has no shell that would find them. */
  node: string;
  script: string;
  /** What the node is told that it is, as it is typed. */
  nodeFlags?: readonly string[];
}

/** What the service runs. */
export function startCommand({ node, script, fleetFile, nodeFlags = [] }: ServiceFacts): string[] {
  return [node, script, "start", "--leave-jobs", ...nodeFlags, "--config", fleetFile];
}
