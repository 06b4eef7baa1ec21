import type { Job, JobWatch } from "@herdctl/core";
import { answerQuestions } from "./answer-questions.ts";
import type { FleetLine } from "./fleet-line.ts";

/** Shows a job of a running fleet until it has ended. */
export function watchJob(
  line: FleetLine,
  jobId: string,
  { onMessage, askPerson }: JobWatch,
  signal: AbortSignal,
): Promise<Job> {
  let from = 0;
  return line.ask(async (fleet) => {
    const over = new AbortController();
    const asking = askPerson && answerQuestions(fleet, jobId, askPerson, over.signal);
    try {
      const output = onMessage ? fleet.output(jobId, { from, follow: signal }) : [];
      for await (const { message, offset } of output) {
        from = offset;
        onMessage?.(message);
      }
      return await fleet.wait(jobId, signal);
    } finally {
      over.abort();
      await asking;
    }
  }, signal);
}
