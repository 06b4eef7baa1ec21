import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Artifact, Job } from "@herdctl/protocol";
import { hasErrorCode } from "@herdctl/protocol";
import { artifactsDir } from "../../store/files/artifacts.ts";
import type { Connector } from "./connector.ts";

export interface Answer {
  posts: string[];
  files: AnswerFile[];
}

/** More posts than this would push everything else out of sight. */
const maxPosts = 5;

/** The final answer to a message, split as the platform requires. */
export function composeAnswer(
  job: Job,
  reply: { answer: string; tools: string },
  { limits, formatRemark }: Pick<Connector, "limits" | "formatRemark">,
  { footer, jobDir }: { footer: boolean; jobDir: string },
): Answer {
  const text = answerText(job, reply.answer);
  const { posted, remark } = selectFiles(job, limits.maxFileBytes);
  const keptFiles = posted.map((artifact) => keptFile(jobDir, artifact));
  const remarks = [
    ...(reply.tools === "" ? [] : [`🔧 ${reply.tools}`]),
    ...(job.outcome?.code === "finished_with_denials" ? ["⚠️ Some tool calls were denied."] : []),
    ...(remark === undefined ? [] : [remark]),
    ...(footer ? [costLine(job)] : []),
  ];
  const tail = remarks.map((line) => `\n${formatRemark(line)}`).join("");
  const parts = splitAnswer(text, limits.maxTextLength - tail.length);
  if (parts.length <= maxPosts) return { posts: appendToLast(parts, tail), files: keptFiles };
  const attachedNote = `${formatRemark("The whole answer is attached.")}`;
  const [first = ""] = splitAnswer(
    text,
    limits.maxTextLength - tail.length - attachedNote.length - 2,
  );
  const content = Buffer.from(text).subarray(0, limits.maxFileBytes);
  const whole = { name: "answer.md", read: async () => content };
  return {
    posts: appendToLast([`${first}\n\n${attachedNote}`], tail),
    files: [whole, ...keptFiles],
  };
}

function appendToLast(parts: string[], tail: string): string[] {
  return parts.map((part, index) => (index === parts.length - 1 ? part + tail : part));
}

function answerText(job: Job, answer: string): string {
  if (job.status === "completed") return answer || job.summary || "Done.";
  if (job.status === "cancelled") return joinParagraphs(answer, `⏹️ Stopped. (${job.id})`);
  const { message, hint } = job.outcome ?? { message: "The job did not succeed.", hint: "" };
  return joinParagraphs(answer, `⚠️ ${message}\n${hint}\n(${job.id})`);
}

function joinParagraphs(...texts: string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

function costLine({ id, cost_usd, duration_seconds }: Job): string {
  const cost = cost_usd === null ? [] : [`$${cost_usd.toFixed(4)}`];
  const time = duration_seconds === null ? [] : [`${duration_seconds.toFixed(1)} s`];
  return [...cost, ...time, id].join(" · ");
}

/**
 * Splits an answer into posts of limited length: between paragraphs, else between lines, else
 * between words. A code block that is split is closed and opened again, so that each post is
 * readable alone.
 */
export function splitAnswer(text: string, maxLength: number): string[] {
  const parts: string[] = [];
  let openFenceLine = "";
  let remaining = text.trimEnd();
  while (remaining.length > 0) {
    const reopening = openFenceLine === "" ? "" : `${openFenceLine}\n`;
    const availableLength = maxLength - reopening.length;
    if (remaining.length <= availableLength) {
      parts.push(reopening + remaining);
      break;
    }
    const cut = findCut(remaining, availableLength - fenceEnd.length);
    const piece = reopening + remaining.slice(0, cut).trimEnd();
    openFenceLine = openFence(piece);
    parts.push(openFenceLine === "" ? piece : piece + fenceEnd);
    remaining = remaining.slice(cut).replace(openFenceLine === "" ? /^\s*\n/ : /^\n/, "");
  }
  return parts.filter((part) => part.trim() !== "");
}

const fenceEnd = "\n```";

/** As late as possible, but not so early that most of the post stays empty. */
function findCut(text: string, maxLength: number): number {
  const head = text.slice(0, maxLength);
  const fenceStart = openFenceStart(head);
  for (const [separator, minFraction] of separators) {
    const found = head.lastIndexOf(separator);
    const isInCode = separator === "\n\n" && openFence(head.slice(0, found)) !== "";
    if (found > maxLength * minFraction && !isInCode) return found + separator.length;
  }
  if (fenceStart > maxLength / 2) return fenceStart;
  // Does not split a surrogate pair.
  return /[\uD800-\uDBFF]$/.test(head) ? maxLength - 1 : maxLength;
}

const separators: [mark: string, keep: number][] = [
  ["\n\n", 0.5],
  ["\n", 0.3],
  [" ", 0.3],
];

/** Start of the code block that is open at the end; -1 if none is open. */
function openFenceStart(text: string): number {
  return openFence(text) === "" ? -1 : text.lastIndexOf("```");
}

/** The line that opened the code block in which the text ends. */
function openFence(text: string): string {
  let open = "";
  for (const line of text.split("\n")) {
    const fence = /^\s*```\s*([^\s`]{0,20})/.exec(line);
    if (fence) open = open === "" ? `\`\`\`${fence[1]}` : "";
  }
  return open;
}

/** A file of an answer. `read` gives undefined if the file no longer exists. */
export interface AnswerFile {
  name: string;
  read(): Promise<Buffer | undefined>;
}

/** More files would push everything else out of sight. */
const maxFiles = 10;

const maxNamedFiles = 3;

/** The files of a job to post, and a note about the others. */
export function selectFiles(
  { id, artifacts }: Pick<Job, "id" | "artifacts">,
  maxBytes: number,
): { posted: Artifact[]; remark: string | undefined } {
  const postable = artifacts.filter(({ bytes }) => bytes > 0 && bytes <= maxBytes);
  const posted = postable.slice(0, maxFiles);
  const notPosted = artifacts.filter((artifact) => !posted.includes(artifact));
  if (notPosted.length === 0) return { posted, remark: undefined };
  const names = notPosted
    .slice(0, maxNamedFiles)
    .map(({ name, bytes }) => `${name} (${formatSize(bytes)})`);
  const more =
    notPosted.length > maxNamedFiles ? ` and ${notPosted.length - maxNamedFiles} more` : "";
  return {
    posted,
    remark: `📎 Not posted: ${names.join(", ")}${more}; on the fleet's machine: herdctl artifacts ${id}`,
  };
}

function keptFile(jobDir: string, { name }: Artifact): AnswerFile {
  return { name, read: () => readFile(join(artifactsDir(jobDir), name)).catch(ignoreMissing) };
}

function ignoreMissing(error: unknown): undefined {
  if (hasErrorCode(error, "ENOENT")) return undefined;
  throw error;
}

function formatSize(bytes: number): string {
  return bytes < 1_000_000 ? `${bytes} bytes` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
