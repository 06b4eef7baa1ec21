/**
 * Variables that herdctl sets for every run. An agent that could set them might send the credential
 * to another address, bill another account, or remove the marker of its processes.
 */
export const reservedVariables = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  // defence: reserved-variables
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
