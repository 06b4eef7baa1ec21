import type { Job } from "../state/job.ts";
import type { Connector } from "./connector.ts";
import { type AnswerFile, filesOut, keptFile } from "./files-out.ts";
import { splitAnswer } from "./split-answer.ts";

export interface Answer {
  parts: string[];
  files: AnswerFile[];
}

/** More posts than this would push everything else out of sight. */
const mostParts = 5;

/** The last word on a message, cut as the platform needs it. */
export function composeAnswer(
  job: Job,
  said: { answer: string; tools: string },
  { limits, small }: Pick<Connector, "limits" | "small">,
  { footer, jobDir }: { footer: boolean; jobDir: string },
): Answer {
  const text = wordsOf(job, said.answer);
  const { posted, remark } = filesOut(job, limits.file);
  const kept = posted.map((one) => keptFile(jobDir, one));
  const remarks = [
    ...(said.tools === "" ? [] : [`🔧 ${said.tools}`]),
    ...(job.outcome?.code === "finished_with_denials" ? ["⚠️ Some of it was not permitted."] : []),
    ...(remark === undefined ? [] : [remark]),
    ...(footer ? [costLine(job)] : []),
  ];
  const tail = remarks.map((line) => `\n${small(line)}`).join("");
  const parts = splitAnswer(text, limits.text - tail.length);
  if (parts.length <= mostParts) return { parts: withTail(parts, tail), files: kept };
  const note = `${small("The whole answer is attached.")}`;
  const [first = ""] = splitAnswer(text, limits.text - tail.length - note.length - 2);
  const content = Buffer.from(text).subarray(0, limits.file);
  const whole = { name: "answer.md", read: async () => content };
  return { parts: withTail([`${first}\n\n${note}`], tail), files: [whole, ...kept] };
}

function withTail(parts: string[], tail: string): string[] {
  return parts.map((part, index) => (index === parts.length - 1 ? part + tail : part));
}

function wordsOf(job: Job, answer: string): string {
  if (job.status === "completed") return answer || job.summary || "Done; there is nothing to add.";
  if (job.status === "cancelled") return joined(answer, `⏹️ Stopped. (${job.id})`);
  const { message, hint } = job.outcome ?? { message: "It did not succeed.", hint: "" };
  return joined(answer, `⚠️ ${message}\n${hint}\n(${job.id})`);
}

function joined(...texts: string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

function costLine({ id, cost_usd, duration_seconds }: Job): string {
  const cost = cost_usd === null ? [] : [`$${cost_usd.toFixed(4)}`];
  const time = duration_seconds === null ? [] : [`${duration_seconds.toFixed(1)} s`];
  return [...cost, ...time, id].join(" · ");
}
