import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";

/**
 * Detects the end of a run. A result ends a turn, but the run continues while a background shell or
 * agent is working: claude starts another turn when it is done, and may need us for it.
 */
export class BackgroundTasks {
  private readonly openTaskIds = new Set<string>();

  /** True if this message ends the run. */
  isFinalMessage(message: SDKMessage): boolean {
    this.track(message);
    return message.type === "result" && this.openTaskIds.size === 0;
  }

  private track(message: SDKMessage): void {
    if (message.type !== "system") return;
    if (message.subtype === "background_tasks_changed") {
      this.openTaskIds.clear();
      for (const task of message.tasks) this.openTaskIds.add(task.task_id);
    }
    if (message.subtype === "task_notification") this.openTaskIds.delete(message.task_id);
  }
}
