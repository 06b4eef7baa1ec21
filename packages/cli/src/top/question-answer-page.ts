import type { Approval, ApprovalDecision, FleetControl, Job } from "@herdctl/protocol";
import { openApprovalLines } from "../render/approval-page.ts";
import type { TerminalStyle } from "../render/terminal-style.ts";
import { wrapLine } from "../render/text-width.ts";
import type { Key } from "./keys.ts";
import type { Navigation, Page, ScreenSize } from "./page.ts";
import { ScrollWindow } from "./scroll-window.ts";
import { TextInputPage } from "./text-input-page.ts";

/** A question, answered with the number of a choice or with text. */
export class QuestionAnswerPage implements Page {
  private readonly window = new ScrollWindow({ atEnd: false });
  isDone = false;

  constructor(
    private readonly fleet: FleetControl,
    private readonly approval: Approval,
    private readonly job: Job | undefined,
    private readonly style: TerminalStyle,
  ) {}

  render(size: ScreenSize, now: Date): string[] {
    const { yellow, dim } = this.style.colors;
    const page = openApprovalLines(this.approval, this.job, now, {
      ...this.style,
      width: undefined,
    });
    const lines = page.flatMap((line) => wrapLine(line, size.columns - 1));
    const visibleLines = this.window.visibleLines(lines, size.rows - 2);
    const { choices, free_text } = this.approval;
    const keys = [
      this.window.positionText,
      choices ? `1–${Math.min(choices.length, 9)} choose` : "",
      free_text ? "t type an answer" : "",
      "d decline",
      "q back",
    ].filter((one) => one !== "");
    return [...visibleLines, dim("─".repeat(size.columns)), yellow(` ${keys.join("   ")}`)];
  }

  async onKey(key: Key): Promise<Navigation> {
    if (key.name === "back") return "back";
    if (this.window.handleKey(key) || key.name !== "letter") return "stay";
    if (key.letter === "d") return this.answer("deny");
    const { choices, free_text } = this.approval;
    if (key.letter === "t" && free_text) return this.openTextInput();
    const choice = choices?.[Number(key.letter) - 1];
    return choice ? this.answer({ reply: choice.label }) : "stay";
  }

  close(): void {}

  private openTextInput(): Page {
    const question = openApprovalLines(this.approval, this.job, new Date(), this.style);
    return new TextInputPage(question, this.style, async (reply) => {
      await this.answer({ reply });
    });
  }

  private async answer(decision: ApprovalDecision): Promise<Navigation> {
    await this.fleet.approvals.answer(this.approval.id, decision);
    this.isDone = true;
    return "back";
  }
}
