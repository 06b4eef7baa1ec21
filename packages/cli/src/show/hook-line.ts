import type { HookRun } from "@herdctl/core";
import { harmless } from "./harmless.ts";
import type { Look } from "./look.ts";

const marks = { succeeded: "✓", failed: "✗", due: "◔", running: "◐" } as const;
const hues = { succeeded: "green", failed: "red", due: "yellow", running: "cyan" } as const;

/** One hook in a line: how it stands, which it is, what its last attempt came to. */
export function hookLine(run: HookRun, look: Look): string {
  const { status, event, position, type, attempts, message, due_at } = run;
  const word = look.colors[hues[status]](`${marks[status]} ${status}`);
  const tries = attempts > 1 ? ` after ${attempts} attempts` : "";
  const again = due_at && attempts > 0 ? `, again at ${new Date(due_at).toLocaleString("sv")}` : "";
  const said = message === null ? "" : `: ${harmless(message)}`;
  return `${word} ${event}[${position}] ${type}${said}${tries}${again}  ${look.colors.dim(run.id)}`;
}
