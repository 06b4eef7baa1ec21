import { exitCodes, UserError } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { shellScripts } from "../completion/shell-scripts.ts";

export async function run({ arguments: [shell = ""], terminal }: Call): Promise<number> {
  const script = Object.hasOwn(shellScripts, shell) ? shellScripts[shell] : undefined;
  if (script === undefined) {
    const problem = shell === "" ? "which shell?" : `there are no completions for \`${shell}\``;
    throw new UserError("usage", problem, {
      hint: "Type `herdctl completion bash`, `zsh` or `fish`.",
    });
  }
  if (terminal.json) terminal.printJson({ shell, script });
  else terminal.write(script);
  return exitCodes.success;
}
