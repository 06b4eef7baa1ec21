import { providerVariables } from "@herdctl/config";

/** Variables that affect a fleet and that a shell usually sets but a service manager does not. */
const defaultVariables = new Set([
  ...["PATH", "LANG", "LC_ALL", "TZ", "DOCKER_HOST", "DOCKER_CONTEXT", "IS_SANDBOX"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_UNIX_SOCKET"],
  ...["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"],
  ...["HERDCTL_SAFE_DIRECTORY"],
  ...providerVariables,
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"],
  ...["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"],
  ...["CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"],
]);

/**
 * Variables of this shell to save for the service: the default ones and those that the
 * configuration uses. Variables in `.env` are read from there at every start.
 */
export function selectServiceVariables(
  env: NodeJS.ProcessEnv,
  named: readonly string[],
): Record<string, string> {
  const wantedNames = new Set([...defaultVariables, ...named]);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      wantedNames.has(name) && value !== undefined && value !== "" ? [[name, value]] : [],
    ),
  );
}
