import type { ServiceFacts } from "./service-facts.ts";

export interface ServiceState {
  /** The system starts it by itself. */
  enabled: boolean;
  running: boolean;
  pid: number | null;
}

/** What keeps services up on a kind of machine. */
export interface ServiceManager {
  /** Where the files of this user's services lie. */
  folder(env: NodeJS.ProcessEnv): string;
  /** What the names of such files end in. */
  suffix: string;
  describe(facts: ServiceFacts): string;
  environment(variables: Readonly<Record<string, string>>): string;
  /** Whether a service, by its file, is the one of this fleet. */
  isOf(text: string, fleetFile: string): boolean;
  /** Throws what a person can do about it when it does not answer here. */
  check(env: NodeJS.ProcessEnv): Promise<void>;
  /** Has the service known, started now (anew, if it runs) and at every start of the system. */
  enable(name: string, file: string, env: NodeJS.ProcessEnv): Promise<void>;
  disable(name: string, file: string, env: NodeJS.ProcessEnv): Promise<void>;
  state(name: string, env: NodeJS.ProcessEnv): Promise<ServiceState>;
  /** What is to be known of it beyond its state, such as that it ends with the login. */
  advice(env: NodeJS.ProcessEnv): Promise<string[]>;
  /** The command that shows its logs. */
  logs(facts: Pick<ServiceFacts, "name" | "logDir">): string;
}
