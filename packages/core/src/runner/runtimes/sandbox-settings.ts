import type { ResolvedAgent } from "@herdctl/config";

type Sandbox = NonNullable<ResolvedAgent["sandbox"]>;

/** The agent's `sandbox` as Claude Code's setting. */
export function buildSandboxSettings({
  network,
  filesystem,
  credentials,
  ...sandbox
}: Sandbox): Record<string, unknown> {
  return {
    enabled: sandbox.enabled,
    // defence: sandbox-fails-closed
    failIfUnavailable: sandbox.fail_if_unavailable,
    allowUnsandboxedCommands: /* defence: no-unsandboxed-commands */ sandbox.allow_unsandboxed,
    autoAllowBashIfSandboxed: sandbox.auto_allow_bash,
    ...optional("excludedCommands", sandbox.excluded_commands),
    network: {
      allowedDomains: network.allowed_domains,
      ...optional("deniedDomains", network.denied_domains),
      strictAllowlist: /* defence: strict-sandbox-hosts */ network.strict,
      ...optional("allowUnixSockets", network.allow_unix_sockets),
      ...optional("allowAllUnixSockets", network.allow_all_unix_sockets),
      ...optional("allowLocalBinding", network.allow_local_binding),
      ...optional("allowMachLookup", network.allow_mach_lookup),
      ...optional("httpProxyPort", network.http_proxy_port),
      ...optional("socksProxyPort", network.socks_proxy_port),
    },
    filesystem: {
      ...optional("allowWrite", filesystem.allow_write),
      ...optional("denyWrite", filesystem.deny_write),
      ...optional("denyRead", filesystem.deny_read),
      ...optional("allowRead", filesystem.allow_read),
    },
    credentials: {
      ...optional(
        "files",
        credentials.files.map((path) => ({ path, mode: "deny" })),
      ),
      ...optional(
        "envVars",
        credentials.env_vars.map((name) => ({ name, mode: "deny" })),
      ),
    },
    ...optional("ignoreViolations", sandbox.ignore_violations),
    ...optional("enableWeakerNestedSandbox", sandbox.weaker_nested),
    ...optional("allowNestedUserNamespaces", sandbox.allow_nested_user_namespaces),
    ...optional("enableWeakerNetworkIsolation", sandbox.weaker_network_isolation),
    ...optional("allowAppleEvents", sandbox.allow_apple_events),
  };
}

/** Leaves out what is not set, because an older Claude Code drops settings that it does not know. */
function optional(name: string, value: unknown): Record<string, unknown> {
  const isUnset =
    value === undefined ||
    value === false ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return isUnset ? {} : { [name]: value };
}
