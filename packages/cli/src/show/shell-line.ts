import type { ResumeCommand } from "@herdctl/core";

/** The command as a person would type it, without the secrets of its environment. */
export function shellLine({ program, args, cwd, env }: ResumeCommand): string {
  const home = env.CLAUDE_CONFIG_DIR;
  const variables = home === undefined ? [] : [`CLAUDE_CONFIG_DIR=${quoted(home)}`];
  const command = [...variables, ...[program, ...args].map(quoted)].join(" ");
  return `cd ${quoted(cwd)} && ${command}`;
}

export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
