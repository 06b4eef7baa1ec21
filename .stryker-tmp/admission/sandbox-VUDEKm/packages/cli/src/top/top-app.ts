import type { CommandContext } from "../command.ts";
import { type FleetClient, findFleet } from "../find-fleet.ts";
import { sanitizeText } from "../render/sanitize-text.ts";
import { FleetPage } from "./fleet-page.ts";
import { type FleetSnapshot, fetchFleetSnapshot } from "./fleet-snapshot.ts";
import { type FullScreen, openFullScreen } from "./full-screen.ts";
import { type Key, parseKeys } from "./keys.ts";
import type { Navigation, Page } from "./page.ts";

const refreshIntervalMs = 500;
const redrawIntervalMs = 250;

/** Runs the full-screen view until the user quits. Reconnects if the fleet is restarted. */
export class TopApp {
  private readonly pages: Page[];
  private readonly screen: FullScreen;
  private errorMessage = "";
  private quit: () => void = () => undefined;

  constructor(
    private readonly context: CommandContext,
    private fleet: FleetClient,
    private snapshot: FleetSnapshot,
  ) {
    const style = { colors: context.terminal.colors, width: context.terminal.columns };
    this.pages = [
      new FleetPage(
        () => this.fleet,
        () => this.snapshot,
        style,
      ),
    ];
    this.screen = openFullScreen(
      (typed) => void this.handleInput(typed),
      () => this.draw(),
    );
  }

  async run(): Promise<void> {
    const quitPromise = new Promise<void>((resolve) => {
      this.quit = resolve;
    });
    const timers = [
      setInterval(() => void this.refresh(), refreshIntervalMs),
      setInterval(() => this.draw(), redrawIntervalMs),
    ];
    for (const signal of signals) process.on(signal, this.quit);
    try {
      this.draw();
      await quitPromise;
    } finally {
      for (const signal of signals) process.off(signal, this.quit);
      for (const timer of timers) clearInterval(timer);
      for (const page of this.pages) page.close();
      this.screen.close();
      this.fleet.close();
    }
  }

  private draw(): void {
    const { size } = this.screen;
    const lines = this.pages.at(-1)?.render(size, new Date()) ?? [];
    const { red } = this.context.terminal.colors;
    const errorLines =
      this.errorMessage === "" ? [] : [red(` ! ${sanitizeText(this.errorMessage)}`)];
    this.screen.draw([...lines.slice(0, size.rows - errorLines.length), ...errorLines]);
  }

  private async handleInput(typed: string): Promise<void> {
    const page = this.pages.at(-1);
    if (page?.onInput && !typed.includes(ctrlC)) await this.tryAction(() => page.onInput?.(typed));
    else for (const key of parseKeys(typed)) await this.tryAction(() => this.handleKey(key));
    this.draw();
  }

  private async tryAction(action: () => Promise<Navigation> | undefined): Promise<void> {
    try {
      this.navigate(await action());
      this.errorMessage = "";
    } catch (error) {
      this.errorMessage = error instanceof Error ? error.message : String(error);
    }
  }

  private async handleKey(key: Key): Promise<Navigation> {
    if (key.name !== "quit") return (await this.pages.at(-1)?.onKey(key)) ?? "stay";
    this.quit();
    return "stay";
  }

  private navigate(navigation: Navigation | undefined): void {
    if (navigation === undefined || navigation === "stay") return;
    if (navigation !== "back") this.pages.push(navigation);
    else if (this.pages.length === 1) this.quit();
    else this.closePage();
  }

  private closePage(): void {
    this.pages.pop()?.close();
    if (this.pages.at(-1)?.isDone) this.closePage();
  }

  private async refresh(): Promise<void> {
    try {
      this.snapshot = await fetchFleetSnapshot(this.fleet);
      if (this.errorMessage === unreachableMessage) this.errorMessage = "";
    } catch {
      this.errorMessage = unreachableMessage;
      const next = await findFleet(this.context).catch(() => undefined);
      if (!next) return;
      this.fleet.close();
      this.fleet = next;
    }
  }
}

const ctrlC = "\x03";
const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
const unreachableMessage = "The fleet does not answer. Reconnecting …";
