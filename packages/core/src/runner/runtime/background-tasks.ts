import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";

/**
 * Says when a run has no more to do. A result ends a turn, but not the run while a background
 * shell or agent is at work: claude takes another turn when that is done, and may need us for it.
 */
export class BackgroundTasks {
  private readonly open = new Set<string>();

  /** True when this message was the last word. */
  isLastWord(message: SDKMessage): boolean {
    this.follow(message);
    return message.type === "result" && this.open.size === 0;
  }

  private follow(message: SDKMessage): void {
    if (message.type !== "system") return;
    if (message.subtype === "background_tasks_changed") {
      this.open.clear();
      for (const task of message.tasks) this.open.add(task.task_id);
    }
    if (message.subtype === "task_notification") this.open.delete(message.task_id);
  }
}
