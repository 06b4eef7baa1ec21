import type { ResolvedAgent } from "../../config/resolve.ts";
import { UserError } from "../../errors/user-error.ts";
import { lacksContainer } from "../no-containers.ts";
import { CLIRuntime } from "./cli-runtime.ts";
import type { RuntimeInterface } from "./interface.ts";
import { SDKRuntime } from "./sdk-runtime.ts";
import { SessionFileRuntime } from "./session-file-runtime.ts";

export interface RuntimeFactoryOptions {
  /** Where containers of the agent keep their sessions. */
  stateDir: string;
}

const runtimes: Record<string, (agent: ResolvedAgent) => RuntimeInterface> = {
  sdk: () => new SDKRuntime(),
  cli: ({ runtime }) =>
    runtime.stream === "session-file" ? new SessionFileRuntime() : new CLIRuntime(),
};

/** The runtime that an agent's configuration asks for. */
export const RuntimeFactory = {
  create(agent: ResolvedAgent, _options: RuntimeFactoryOptions): RuntimeInterface {
    const lack = lacksContainer(agent);
    if (lack) throw new UserError("docker_unavailable", lack.message, { hint: lack.hint });
    const make = runtimes[agent.runtime.type];
    if (make) return make(agent);
    throw new UserError("usage", `there is no runtime \`${agent.runtime.type}\``, {
      hint: `Supported: ${Object.keys(runtimes).join(", ")}.`,
    });
  },
};
