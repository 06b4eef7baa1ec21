import type { Call } from "../command.ts";
import { type FleetClient, findFleet } from "../fleet-access.ts";
import { harmless } from "../show/harmless.ts";
import { FleetPage } from "./fleet-page.ts";
import { type FullScreen, openFullScreen } from "./full-screen.ts";
import { type Key, keysOf } from "./keys.ts";
import { type Facts, factsOf } from "./news.ts";
import type { Move, Page } from "./page.ts";

const lookEvery = 500;
const drawEvery = 250;

/** Fills the terminal until the person leaves. A fleet that is restarted meanwhile is found again. */
export class Top {
  private readonly pages: Page[];
  private readonly screen: FullScreen;
  private trouble = "";
  private leave: () => void = () => undefined;

  constructor(
    private readonly call: Call,
    private fleet: FleetClient,
    private facts: Facts,
  ) {
    const look = { colors: call.terminal.colors, width: call.terminal.columns };
    this.pages = [
      new FleetPage(
        () => this.fleet,
        () => this.facts,
        look,
      ),
    ];
    this.screen = openFullScreen(
      (typed) => void this.type(typed),
      () => this.draw(),
    );
  }

  async run(): Promise<void> {
    const left = new Promise<void>((resolve) => {
      this.leave = resolve;
    });
    const timers = [
      setInterval(() => void this.lookAgain(), lookEvery),
      setInterval(() => this.draw(), drawEvery),
    ];
    for (const signal of signals) process.on(signal, this.leave);
    try {
      this.draw();
      await left;
    } finally {
      for (const signal of signals) process.off(signal, this.leave);
      for (const timer of timers) clearInterval(timer);
      for (const page of this.pages) page.close();
      this.screen.close();
      this.fleet.close();
    }
  }

  private draw(): void {
    const { size } = this.screen;
    const lines = this.pages.at(-1)?.lines(size, new Date()) ?? [];
    const { red } = this.call.terminal.colors;
    const trouble = this.trouble === "" ? [] : [red(` ! ${harmless(this.trouble)}`)];
    this.screen.draw([...lines.slice(0, size.rows - trouble.length), ...trouble]);
  }

  private async type(typed: string): Promise<void> {
    const page = this.pages.at(-1);
    if (page?.type && !typed.includes(interrupt)) await this.attempt(() => page.type?.(typed));
    else for (const key of keysOf(typed)) await this.attempt(() => this.press(key));
    this.draw();
  }

  private async attempt(act: () => Promise<Move> | undefined): Promise<void> {
    try {
      this.go(await act());
      this.trouble = "";
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    }
  }

  private async press(key: Key): Promise<Move> {
    if (key.name !== "quit") return (await this.pages.at(-1)?.press(key)) ?? "stay";
    this.leave();
    return "stay";
  }

  private go(move: Move | undefined): void {
    if (move === undefined || move === "stay") return;
    if (move !== "back") this.pages.push(move);
    else if (this.pages.length === 1) this.leave();
    else this.drop();
  }

  private drop(): void {
    this.pages.pop()?.close();
    if (this.pages.at(-1)?.isOver) this.drop();
  }

  private async lookAgain(): Promise<void> {
    try {
      this.facts = await factsOf(this.fleet);
      if (this.trouble === gone) this.trouble = "";
    } catch {
      this.trouble = gone;
      const next = await findFleet(this.call).catch(() => undefined);
      if (!next) return;
      this.fleet.close();
      this.fleet = next;
    }
  }
}

const interrupt = "\x03";
const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
const gone = "the fleet does not answer; waiting for it …";
