import type { Approval, FleetControl, Job } from "@herdctl/core";
import { questionLines } from "../show/approval-page.ts";
import type { Look } from "../show/look.ts";
import { wrap } from "../show/width.ts";
import type { Key } from "./keys.ts";
import type { Move, Page, Size } from "./page.ts";
import { Window } from "./window.ts";

/** All that a tool asks for. It can be allowed only once all of it was on the screen. */
export class QuestionPage implements Page {
  private readonly window = new Window({ atEnd: false });

  constructor(
    private readonly fleet: FleetControl,
    private readonly approval: Approval,
    private readonly job: Job | undefined,
    private readonly look: Look,
  ) {}

  lines(size: Size, now: Date): string[] {
    const { yellow, dim } = this.look.colors;
    const page = questionLines(this.approval, this.job, now, { ...this.look, width: undefined });
    const lines = page.flatMap((line) => wrap(line, size.columns - 1));
    const seen = this.window.view(lines, size.rows - 2);
    const keys = this.window.sawEnd
      ? yellow(" a allow this once   d deny   q back")
      : yellow(
          ` ${this.window.place}   ↓ read on: all of it must be seen before it can be allowed`,
        );
    return [...seen, dim("─".repeat(size.columns)), keys];
  }

  async press(key: Key): Promise<Move> {
    if (this.window.press(key)) return "stay";
    if (key.name === "back") return "back";
    if (key.name !== "letter") return "stay";
    if (key.letter === "a" && this.window.sawEnd) return this.answer("allow");
    return key.letter === "d" ? this.answer("deny") : "stay";
  }

  close(): void {}

  private async answer(word: "allow" | "deny"): Promise<Move> {
    await this.fleet.answer(this.approval.id, word);
    return "back";
  }
}
