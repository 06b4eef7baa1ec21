import type { ServiceSpec } from "./service-spec.ts";

export interface ServiceState {
  /** The system starts it automatically. */
  enabled: boolean;
  running: boolean;
  pid: number | null;
}

/** An adapter for systemd or launchd. */
export interface ServiceManager {
  /** The folder of this user's service definitions. */
  definitionDir(env: NodeJS.ProcessEnv): string;
  fileSuffix: string;
  renderDefinition(spec: ServiceSpec): string;
  renderEnvironment(variables: Readonly<Record<string, string>>): string;
  /** Whether this definition is the service of this fleet. */
  belongsToFleet(definition: string, fleetFile: string): boolean;
  /** Throws a `UserError` if the service manager does not answer. */
  assertAvailable(env: NodeJS.ProcessEnv): Promise<void>;
  /** Registers the service, starts or restarts it now, and starts it with the system. */
  enable(name: string, file: string, env: NodeJS.ProcessEnv): Promise<void>;
  disable(name: string, file: string, env: NodeJS.ProcessEnv): Promise<void>;
  readState(name: string, env: NodeJS.ProcessEnv): Promise<ServiceState>;
  /** Advice beyond the state, such as that the service ends when the user logs out. */
  listAdvice(env: NodeJS.ProcessEnv): Promise<string[]>;
  /** The command that shows its logs. */
  logsCommand(spec: Pick<ServiceSpec, "name" | "logDir">): string;
}
