export function parseVersion(text: string): string | undefined {
  return /^(\d+\.\d+\.\d+)/.exec(text.trim())?.[1];
}

/** By number, part by part: 2.1.99 is older than 2.1.197. */
export function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((one) => one.split(".").map(Number));
  const differing = [0, 1, 2].find((part) => a?.[part] !== b?.[part]);
  return differing !== undefined && (a?.[differing] ?? 0) < (b?.[differing] ?? 0);
}
