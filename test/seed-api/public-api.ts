// The public API of the seed document "herdctl-core-runner", as a program that uses it. The declarations
// are copied unchanged: they compile only if the exported ones accept what these accept.
import type {
  AgentRunner as ExportedAgentRunner,
  ResolvedAgentConfig,
  RunnerOptions as ExportedRunnerOptions,
  RunnerResult as ExportedRunnerResult,
  runAgent as exportedRunAgent,
  RunnerError as ExportedRunnerError,
  SDKError as ExportedSDKError,
} from "@herdctl/core";

// Main runner interface
export interface RunnerOptions {
  agent: ResolvedAgentConfig;
  prompt: string;
  jobId: string;
  stateDir: string;           // .herdctl/ path
  resume?: string;            // Session ID to resume
  fork?: boolean;             // Fork the session
}

export interface RunnerResult {
  success: boolean;
  sessionId: string;
  error?: Error;
  summary?: string;           // Extracted from final assistant message
}

export declare class AgentRunner {
  constructor(stateDir: string);

  run(options: Omit<RunnerOptions, 'stateDir'>): Promise<RunnerResult>;
  resume(sessionId: string, prompt: string): Promise<RunnerResult>;
  fork(sessionId: string, prompt: string): Promise<RunnerResult>;
}

export class RunnerError extends Error {
  constructor(
    message: string,
    public readonly jobId: string,
    public override readonly cause?: Error
  ) {
    super(message);
    this.name = 'RunnerError';
  }
}

export class SDKError extends RunnerError {
  constructor(
    message: string,
    jobId: string,
    public readonly sdkMessage?: unknown
  ) {
    super(message, jobId);
    this.name = 'SDKError';
  }
}

/** Compiles only if `Exported` can be used where the seed document has `Seed`. */
type Fits<Seed, Exported extends Seed> = Exported;
type Constructor<Class extends abstract new (...args: never) => unknown> = new (
  ...args: ConstructorParameters<Class>
) => InstanceType<Class>;

export type Checks = [
  Fits<ExportedRunnerOptions, RunnerOptions>,
  Fits<RunnerResult, ExportedRunnerResult>,
  Fits<(options: RunnerOptions) => Promise<RunnerResult>, typeof exportedRunAgent>,
  Fits<Constructor<typeof AgentRunner>, typeof ExportedAgentRunner>,
  Fits<Constructor<typeof RunnerError>, typeof ExportedRunnerError>,
  Fits<Constructor<typeof SDKError>, typeof ExportedSDKError>,
];
