import { resolve } from "node:path";
import { buildImage } from "@herdctl/core/internal";
import { createBuildProgress } from "../build-progress.ts";
import { type CommandContext, textOption } from "../command.ts";

export async function run({ options, cwd, env, terminal }: CommandContext): Promise<number> {
  const startedAtMs = Date.now();
  const file = textOption(options, "file");
  const progress = createBuildProgress(terminal);
  const built = await buildImage({
    env,
    base: textOption(options, "base"),
    tag: textOption(options, "tag"),
    file: file === undefined ? undefined : resolve(cwd, file),
    onEvent: progress.show,
  }).finally(progress.close);
  const seconds = Math.round((Date.now() - startedAtMs) / 100) / 10;
  if (terminal.isJson) {
    terminal.printJson({ ...built, seconds });
    return 0;
  }
  const { green, bold, dim } = terminal.colors;
  const buildDetails = `Claude Code ${built.claude}, ${seconds} s`;
  terminal.print(`${green("✓")} ${bold(built.image)} ${dim(buildDetails)}`);
  return 0;
}
