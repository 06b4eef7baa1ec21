import type { Approval, FleetControl, Job, Word } from "@herdctl/core";
import { questionLines } from "../show/approval-page.ts";
import type { Look } from "../show/look.ts";
import { wrap } from "../show/width.ts";
import type { Key } from "./keys.ts";
import type { Move, Page, Size } from "./page.ts";
import { TypePage } from "./type-page.ts";
import { Window } from "./window.ts";

/** A question, answered by the number of a choice or by words. */
export class AnswerPage implements Page {
  private readonly window = new Window({ atEnd: false });
  isOver = false;

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
    const { choices, free_text } = this.approval;
    const keys = [
      this.window.place,
      choices ? `1–${Math.min(choices.length, 9)} choose` : "",
      free_text ? "t type an answer" : "",
      "d decline",
      "q back",
    ].filter((one) => one !== "");
    return [...seen, dim("─".repeat(size.columns)), yellow(` ${keys.join("   ")}`)];
  }

  async press(key: Key): Promise<Move> {
    if (key.name === "back") return "back";
    if (this.window.press(key) || key.name !== "letter") return "stay";
    if (key.letter === "d") return this.answer("deny");
    const { choices, free_text } = this.approval;
    if (key.letter === "t" && free_text) return this.typing();
    const choice = choices?.[Number(key.letter) - 1];
    return choice ? this.answer({ reply: choice.label }) : "stay";
  }

  close(): void {}

  private typing(): Page {
    const question = questionLines(this.approval, this.job, new Date(), this.look);
    return new TypePage(question, this.look, async (reply) => {
      await this.answer({ reply });
    });
  }

  private async answer(word: Word): Promise<Move> {
    await this.fleet.answer(this.approval.id, word);
    this.isOver = true;
    return "back";
  }
}
