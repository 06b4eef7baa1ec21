import type { ResumeCommand } from "@herdctl/core/internal";

/** The command as a shell command line, without the secrets of its environment. */
export function shellCommandText({ program, args, cwd, env }: ResumeCommand): string {
  const configDir = env.CLAUDE_CONFIG_DIR;
  const variables =
    configDir === undefined ? [] : [`CLAUDE_CONFIG_DIR=${quoteShellWord(configDir)}`];
  const command = [...variables, ...[program, ...args].map(quoteShellWord)].join(" ");
  return `cd ${quoteShellWord(cwd)} && ${command}`;
}

export function quoteShellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
