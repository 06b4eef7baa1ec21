/** What a fleet goes by that a shell has and a service has not. */
const usual = new Set([
  ...["PATH", "LANG", "LC_ALL", "TZ", "DOCKER_HOST", "DOCKER_CONTEXT", "IS_SANDBOX"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_UNIX_SOCKET"],
  ...["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"],
  ...["HERDCTL_SAFE_DIRECTORY"],
]);

/**
 * What the service is given of this shell's environment: the usual ones and those that the
 * configuration names. What stands in `.env` alone is read from there at every start.
 */
export function serviceVariables(
  env: NodeJS.ProcessEnv,
  named: readonly string[],
): Record<string, string> {
  const wanted = new Set([...usual, ...named]);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      wanted.has(name) && value !== undefined && value !== "" ? [[name, value]] : [],
    ),
  );
}
