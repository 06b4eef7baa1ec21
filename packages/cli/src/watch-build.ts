import type { BuildEvent } from "@herdctl/core";
import { harmless } from "./show/harmless.ts";
import { lookOf } from "./show/look.ts";
import { liveScreen, plainScreen } from "./show/screen.ts";
import { frameTime, spinnerLine } from "./show/spinner.ts";
import { cut } from "./show/width.ts";
import type { Terminal } from "./terminal.ts";

export interface BuildWatch {
  show(event: BuildEvent): void;
  close(): void;
}

/** The steps as they come, and below them, on a screen, what the present one says. */
export function watchBuild(terminal: Terminal): BuildWatch {
  if (terminal.json) return { show: () => undefined, close: () => undefined };
  const screen = terminal.live ? liveScreen(terminal.write) : plainScreen(terminal.print);
  const look = lookOf(terminal);
  const began = Date.now();
  let doing = "sending claude to the engine";
  const draw = (lines: string[] = []) =>
    screen.show(lines, [spinnerLine(Date.now() - began, doing, look)]);
  const show = (event: BuildEvent) => {
    if (event.kind === "image" || event.kind === "error") return;
    doing = harmless(event.text);
    const isStep = event.kind === "step";
    draw(isStep ? [stepLine(event.number, event.of, doing)] : []);
  };
  const stepLine = (number: number, of: number, text: string) =>
    `${look.colors.dim(`${number}/${of}`)} ${cut(text, (look.width ?? 100) - 8)}`;
  const timer = setInterval(draw, frameTime);
  const close = () => {
    clearInterval(timer);
    screen.close();
  };
  draw();
  return { show, close };
}
