import { reservedVariables } from "@herdctl/config";
import type { DockerConfig } from "../../docker/docker-config.ts";
import { type Mount, toContainerPath } from "../../docker/mounts.ts";
import { containerPaths, forwarderUrl } from "../../lib/container-layout.ts";
import type { ExecuteOptions } from "../runtimes/runtime-interface.ts";
import { gitVariables } from "./git-config.ts";

/**
 * A run's environment adapted to a container: without variables that describe the host, but with the
 * variables of the agent's configuration, even if they have the same names.
 */
export function buildContainerEnvironment(
  { env, agent }: Pick<ExecuteOptions, "env" | "agent">,
  config: Pick<DockerConfig, "env">,
  mounts: readonly Mount[],
): Record<string, string> {
  const forwarded = Object.entries(env).filter(([name]) =>
    /* defence: container-variables */ isForwarded(name),
  );
  const agentVariables = Object.entries({ ...agent.env, ...config.env }).filter(
    ([name]) => !reservedNames.has(name),
  );
  const sockets = socketVariables.flatMap((name) => {
    const path = env[name] && toContainerPath(env[name], mounts);
    return path ? [[name, path] as const] : [];
  });
  return {
    LANG: "C.UTF-8",
    ...Object.fromEntries(forwarded),
    ...Object.fromEntries(agentVariables),
    ...Object.fromEntries(sockets),
    ...(env.HERDCTL_PROXY_SOCKET && proxyVariables),
    HOME: containerPaths.home,
    CLAUDE_CONFIG_DIR: containerPaths.configDir,
    ...gitVariables,
  };
}

/** Excludes credentials of the host, except the one that `auth: env` passes on purpose. */
function isForwarded(name: string): boolean {
  const isSecret = /^CLAUDE_CODE_.*(_TOKEN|_KEY|_CERT|PASSPHRASE|_DESCRIPTOR)$/.test(name);
  return !hostOnlyVariables.has(name) && (!isSecret || name === "CLAUDE_CODE_OAUTH_TOKEN");
}

const socketVariables = ["ANTHROPIC_UNIX_SOCKET", "HERDCTL_PROXY_SOCKET"];
const reservedNames = new Set<string>(reservedVariables);

const hostOnlyVariables = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "CLAUDE_CONFIG_DIR", "IS_SANDBOX"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "SSH_AUTH_SOCK"],
  ...socketVariables,
]);

/** Connections within the container bypass the proxy. */
const noProxyHosts = "127.0.0.1,localhost";
const proxyVariables = {
  HTTP_PROXY: forwarderUrl,
  HTTPS_PROXY: forwarderUrl,
  http_proxy: forwarderUrl,
  https_proxy: forwarderUrl,
  NO_PROXY: noProxyHosts,
  no_proxy: noProxyHosts,
};
