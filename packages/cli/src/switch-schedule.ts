import type { Call } from "./command.ts";
import { withFleet } from "./fleet-access.ts";
import { scheduleNamed } from "./schedule-named.ts";
import { clockText } from "./show/wait-text.ts";

/** Only a fleet that runs may write: it is the one that heeds it. */
export function switchSchedule(call: Call, enabled: boolean): Promise<number> {
  const { terminal } = call;
  const name = scheduleNamed(call);
  return withFleet(call, async (fleet) => {
    const view = await fleet.switchSchedule(name, enabled);
    if (terminal.json) {
      terminal.printJson(view);
      return 0;
    }
    const { green, yellow, bold, dim } = terminal.colors;
    const mark = enabled ? green("▶") : yellow("‖");
    terminal.print(
      `${mark} ${bold(`${name.agent} ${name.schedule}`)} is ${enabled ? "on" : "off"}`,
    );
    const [next] = view.next;
    if (next !== undefined) terminal.print(dim(`  next ${clockText(next)}`));
    return 0;
  });
}
