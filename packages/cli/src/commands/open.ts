import { exitCodes, stateDirOf } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { resolveFleetFile, withFleet } from "../find-fleet.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, env, terminal } = context;
  const readOnly = options.readOnly === true;
  const link = await withFleet(context, (fleet) => fleet.createLoginLink({ readOnly }));
  if (terminal.isJson) {
    terminal.printJson(link);
    return exitCodes.success;
  }
  terminal.print(link.url);
  if (terminal.canRedraw && options.print !== true) {
    const { openBrowser } = await import("../open-browser.ts");
    openBrowser(link.url, stateDirOf(resolveFleetFile(context)), env);
  }
  terminal.printNote(
    terminal.colors.dim("The link signs in one browser and expires after ten minutes."),
  );
  return exitCodes.success;
}
