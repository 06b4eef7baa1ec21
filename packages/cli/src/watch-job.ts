import type { FleetControl, Job, JobWatch } from "@herdctl/core";
import { answerQuestions } from "./answer-questions.ts";

/** The way to a fleet: here, or elsewhere and maybe restarted meanwhile. */
export interface Line {
  ask<T>(question: (fleet: FleetControl) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Shows a job until it has ended. */
export function watchJob(
  line: Line,
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
