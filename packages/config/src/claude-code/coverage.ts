/** How herdctl treats an option of Claude Code. */
export type Coverage =
  /** Key of an agent, such as `session.mode`. */
  | { exposed: string }
  /** herdctl decides it; why. */
  | { owned: string }
  /** It has no use without a person at a terminal; why. */
  | { unattended: string };

export type CoverageTable = Readonly<Record<string, Coverage>>;

/** A table from lists of names that are treated in the same way. */
export function coverage(
  ...groups: readonly (readonly [Coverage, readonly string[]])[]
): CoverageTable {
  return Object.fromEntries(groups.flatMap(([how, names]) => names.map((name) => [name, how])));
}

export const exposed = (key: string): Coverage => ({ exposed: key });
export const owned = (reason: string): Coverage => ({ owned: reason });
export const unattended = (reason: string): Coverage => ({ unattended: reason });
