import { exitCodes, stateDirOf } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { fleetFileOf, withFleet } from "../fleet-access.ts";

export async function run(call: Call): Promise<number> {
  const { options, env, terminal } = call;
  const read_only = options.readOnly === true;
  const link = await withFleet(call, (fleet) => fleet.loginLink({ read_only }));
  if (terminal.json) {
    terminal.printJson(link);
    return exitCodes.success;
  }
  terminal.print(link.url);
  if (terminal.live && options.print !== true) {
    const { openBrowser } = await import("../open-browser.ts");
    openBrowser(link.url, stateDirOf(fleetFileOf(call)), env);
  }
  terminal.note(terminal.colors.dim("The link signs one browser in, once, within ten minutes."));
  return exitCodes.success;
}
