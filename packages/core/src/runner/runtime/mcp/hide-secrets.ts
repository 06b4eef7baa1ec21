/** Shorter ones are words like `true`, which hide nothing and would be starred everywhere. */
const shortestSecret = 6;

/** The text with every secret starred. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets
    .flatMap((secret) => [secret, ...secret.split(/\s+/)])
    .filter((secret) => secret.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);
  return longestFirst.reduce((hidden, secret) => hidden.replaceAll(secret, "***"), text);
}
