import { decidedVariables } from "../../config/decided-variables.ts";
import type { DockerConfig } from "../runtime/docker-config.ts";
import type { ExecuteOptions } from "../runtime/interface.ts";
import { gitVariables } from "./git-config.ts";
import { forwarder, inside } from "./layout.ts";
import { type Mount, toContainer } from "./mounts.ts";

/**
 * A run's environment as it makes sense in a container. What describes this machine stays out; what
 * the agent's own configuration says comes in, also where it has the same name.
 */
export function containerEnvironment(
  { env, agent }: Pick<ExecuteOptions, "env" | "agent">,
  config: Pick<DockerConfig, "env">,
  mounts: readonly Mount[],
): Record<string, string> {
  const travelling = Object.entries(env).filter(([name]) => mayTravel(name));
  const own = Object.entries({ ...agent.env, ...config.env }).filter(
    ([name]) => !decided.has(name),
  );
  const sockets = socketVariables.flatMap((name) => {
    const path = env[name] && toContainer(env[name], mounts);
    return path ? [[name, path] as const] : [];
  });
  return {
    LANG: "C.UTF-8",
    ...Object.fromEntries(travelling),
    ...Object.fromEntries(own),
    ...Object.fromEntries(sockets),
    ...(env.HERDCTL_PROXY_SOCKET && proxies),
    HOME: inside.home,
    CLAUDE_CONFIG_DIR: inside.configDir,
    ...gitVariables,
  };
}

/** The one credential that `auth: env` gives on purpose is none of the machine's others. */
function mayTravel(name: string): boolean {
  const isSecret = /^CLAUDE_CODE_.*(_TOKEN|_KEY|_CERT|PASSPHRASE|_DESCRIPTOR)$/.test(name);
  return !ofThisMachine.has(name) && (!isSecret || name === "CLAUDE_CODE_OAUTH_TOKEN");
}

const socketVariables = ["ANTHROPIC_UNIX_SOCKET", "HERDCTL_PROXY_SOCKET"];
const decided = new Set<string>(decidedVariables);

const ofThisMachine = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "CLAUDE_CONFIG_DIR", "IS_SANDBOX"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "SSH_AUTH_SOCK"],
  ...socketVariables,
]);

/** What speaks to the container itself goes around. */
const around = "127.0.0.1,localhost";
const proxies = {
  HTTP_PROXY: forwarder,
  HTTPS_PROXY: forwarder,
  http_proxy: forwarder,
  https_proxy: forwarder,
  NO_PROXY: around,
  no_proxy: around,
};
