/**
 * Variables that herdctl itself decides on for every run. An agent that could set them might send
 * the login to an address of its own, be billed to another account, or escape its marker.
 */
export const decidedVariables = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "ANTHROPIC_UNIX_SOCKET",
  "CLAUDECODE",
  "CLAUDE_CODE_DISABLE_CRON",
  "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST",
  "CLAUDE_CONFIG_DIR",
  "HERDCTL_JOB",
  "HERDCTL_RUN",
] as const;
