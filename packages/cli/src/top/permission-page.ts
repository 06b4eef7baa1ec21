import type { Approval, ApprovalDecision, FleetControl, Job } from "@herdctl/protocol";
import { openApprovalLines } from "../render/approval-page.ts";
import type { TerminalStyle } from "../render/terminal-style.ts";
import { wrapLine } from "../render/text-width.ts";
import type { Key } from "./keys.ts";
import type { Navigation, Page, ScreenSize } from "./page.ts";
import { ScrollWindow } from "./scroll-window.ts";

/** A permission request. It can be allowed only after all of it has been on the screen. */
export class PermissionPage implements Page {
  private readonly window = new ScrollWindow({ atEnd: false });

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
    const keys = this.window.hasSeenEnd
      ? yellow(" a allow once   j for this job   d deny   q back")
      : yellow(` ${this.window.positionText}   ↓ scroll to the end to allow it   d deny   q back`);
    return [...visibleLines, dim("─".repeat(size.columns)), keys];
  }

  async onKey(key: Key): Promise<Navigation> {
    if (this.window.handleKey(key)) return "stay";
    if (key.name === "back") return "back";
    if (key.name !== "letter") return "stay";
    if (key.letter === "a" && this.window.hasSeenEnd) return this.answer("allow");
    if (key.letter === "j" && this.window.hasSeenEnd) return this.answer({ allow: "job" });
    return key.letter === "d" ? this.answer("deny") : "stay";
  }

  close(): void {}

  private async answer(decision: ApprovalDecision): Promise<Navigation> {
    await this.fleet.approvals.answer(this.approval.id, decision);
    return "back";
  }
}
