import { exitCodes, stateDirOf } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { resolveFleetFile } from "../find-fleet.ts";
import { listRemovals } from "../uninstall/removals.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options } = context;
  const removals = await listRemovals(context);
  const items = removals.map(({ kind, description }) => ({ kind, description }));
  const { bold, dim, green } = terminal.colors;
  if (!terminal.isJson) {
    terminal.print(items.length === 0 ? "Nothing is installed for this fleet." : "To remove:");
    for (const { kind, description } of items)
      terminal.print(`  ${bold(kind.padEnd(10))} ${description}`);
    terminal.print(dim(keptText(context)));
  }
  const isConfirmed = options.yes === true || (items.length > 0 && (await confirm(context)));
  if (isConfirmed) for (const removal of removals) await removal.apply();
  if (terminal.isJson) terminal.printJson({ removed: isConfirmed, items });
  else if (isConfirmed && items.length > 0) {
    terminal.print(`${green("■")} Removed. To remove the program: npm uninstall --global herdctl`);
  } else if (items.length > 0) terminal.print("Nothing was removed. To confirm, add --yes.");
  return isConfirmed || items.length === 0 ? exitCodes.success : exitCodes.refused;
}

function keptText(context: CommandContext): string {
  const file = resolveFleetFile(context);
  const kept = [
    `${file}, agent files, .env`,
    ...(context.options.state === true ? [] : [`${stateDirOf(file)} (--state removes it)`]),
    ...(context.options.images === true ? [] : ["agent images in Docker (--images removes them)"]),
    "the sessions in Claude Code's folder",
  ];
  return `Kept: ${kept.join("; ")}.`;
}

async function confirm({ terminal }: CommandContext): Promise<boolean> {
  if (!terminal.isInteractive || terminal.isJson) return false;
  const { confirm: ask } = await import("@clack/prompts");
  // Ctrl-C returns a symbol.
  return (await ask({ message: "Remove these?", initialValue: false, withGuide: false })) === true;
}
