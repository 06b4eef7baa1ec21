/** Identifies the processes and files of one attempt. */
export function runTokenOf(order: { jobId: string; attempt: number }): string {
  return `${order.jobId}.${order.attempt}`;
}
