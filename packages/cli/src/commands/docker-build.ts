import { resolve } from "node:path";
import { buildImage } from "@herdctl/core";
import { type Call, textOption } from "../command.ts";
import { watchBuild } from "../watch-build.ts";

export async function run({ options, cwd, env, terminal }: Call): Promise<number> {
  const began = Date.now();
  const file = textOption(options, "file");
  const watch = watchBuild(terminal);
  const built = await buildImage({
    env,
    base: textOption(options, "base"),
    tag: textOption(options, "tag"),
    file: file === undefined ? undefined : resolve(cwd, file),
    onEvent: watch.show,
  }).finally(watch.close);
  const seconds = Math.round((Date.now() - began) / 100) / 10;
  if (terminal.json) {
    terminal.printJson({ ...built, seconds });
    return 0;
  }
  const { green, bold, dim } = terminal.colors;
  const about = `Claude Code ${built.claude}, ${seconds} s`;
  terminal.print(`${green("✓")} ${bold(built.image)} ${dim(about)}`);
  return 0;
}
