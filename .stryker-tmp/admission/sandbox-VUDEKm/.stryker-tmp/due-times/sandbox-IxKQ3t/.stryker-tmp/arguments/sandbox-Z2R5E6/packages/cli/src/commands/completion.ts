import { exitCodes, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { shellScripts } from "../completion/shell-scripts.ts";

export async function run({ arguments: [shell = ""], terminal }: CommandContext): Promise<number> {
  const script = Object.hasOwn(shellScripts, shell) ? shellScripts[shell] : undefined;
  if (script === undefined) {
    const problem =
      shell === ""
        ? "the name of the shell is missing"
        : `there are no completions for \`${shell}\``;
    throw new UserError("usage", problem, {
      hint: "Run `herdctl completion bash`, `zsh` or `fish`.",
    });
  }
  if (terminal.isJson) terminal.printJson({ shell, script });
  else terminal.write(script);
  return exitCodes.success;
}
