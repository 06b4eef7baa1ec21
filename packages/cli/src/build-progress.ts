import type { BuildEvent } from "@herdctl/core/internal";
import { sanitizeText } from "./render/sanitize-text.ts";
import { createLiveScreen, createPlainScreen } from "./render/screen.ts";
import { frameIntervalMs, spinnerLine } from "./render/spinner.ts";
import { terminalStyleOf } from "./render/terminal-style.ts";
import { truncate } from "./render/text-width.ts";
import type { Terminal } from "./terminal.ts";

export interface BuildProgress {
  show(event: BuildEvent): void;
  close(): void;
}

/** Prints each build step, and on a terminal the current output of the running step below. */
export function createBuildProgress(terminal: Terminal): BuildProgress {
  if (terminal.isJson) return { show: () => undefined, close: () => undefined };
  const screen = terminal.canRedraw
    ? createLiveScreen(terminal.write)
    : createPlainScreen(terminal.print);
  const style = terminalStyleOf(terminal);
  const startedAtMs = Date.now();
  let currentStep = "Sending the build context to the Docker engine";
  const draw = (lines: string[] = []) =>
    screen.show(lines, [spinnerLine(Date.now() - startedAtMs, currentStep, style)]);
  const show = (event: BuildEvent) => {
    if (event.kind === "image" || event.kind === "error") return;
    currentStep = sanitizeText(event.text);
    const isStep = event.kind === "step";
    draw(isStep ? [stepLine(event.number, event.total, currentStep)] : []);
  };
  const stepLine = (number: number, total: number, text: string) =>
    `${style.colors.dim(`${number}/${total}`)} ${truncate(text, (style.width ?? 100) - 8)}`;
  const timer = setInterval(draw, frameIntervalMs);
  const close = () => {
    clearInterval(timer);
    screen.close();
  };
  draw();
  return { show, close };
}
