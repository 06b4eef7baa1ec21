import {
  type Approval,
  displayToolName,
  type FleetEventDetails,
  type Job,
  type JobEvent,
  summarizeToolCall,
} from "@herdctl/protocol";
import { dueReasonText } from "./due-time-reason.ts";
import { noticeText } from "./event-lines.ts";
import { jobEndSummary } from "./job-end-lines.ts";
import { type ColorName, statusColorName, statusMark, statusText } from "./job-status.ts";
import { parseLogMessage } from "./parse-log-message.ts";
import { answerCommands } from "./question-lines.ts";
import { formatWait } from "./wait-text.ts";

/** One line about an event. `detail` is cut to fit. The texts are not sanitized. */
export interface FleetEventEntry {
  /** Undefined if the event concerns the whole fleet. */
  agent?: string;
  headline: string;
  color?: ColorName;
  detail?: string;
}

/** Facts about unfinished jobs that their later events do not repeat. */
export interface KnownJobs {
  agentByJob: Map<string, string>;
  workingDirectories: Map<string, string>;
  /** The last attempt whose start was printed. */
  startedAttempts: Map<string, number>;
}

/** The lines to print for an event: usually one, often none. */
export function describeFleetEvent(
  event: FleetEventDetails,
  knownJobs: KnownJobs,
): FleetEventEntry[] {
  const describe = eventDescribers[event.type];
  return describe(event as never, knownJobs);
}

type EventOfType<T extends FleetEventDetails["type"]> = Extract<FleetEventDetails, { type: T }>;
type Answer = NonNullable<Approval["answer"]>;
type EventDescribers = {
  [T in FleetEventDetails["type"]]: (
    event: EventOfType<T>,
    knownJobs: KnownJobs,
  ) => FleetEventEntry[];
};

const eventDescribers: EventDescribers = {
  "job:created": ({ job }, { agentByJob }) => {
    agentByJob.set(job.id, job.agent);
    return [
      { agent: job.agent, headline: `○ ${job.id}`, color: "dim", detail: promptFirstLine(job) },
    ];
  },
  "job:started": ({ job }, { agentByJob, startedAttempts }) => {
    agentByJob.set(job.id, job.agent);
    // The event also occurs when a job continues after an answer.
    if (startedAttempts.get(job.id) === job.attempts) return [];
    startedAttempts.set(job.id, job.attempts);
    const head = job.attempts > 1 ? `◐ started, attempt ${job.attempts}` : "◐ started";
    return [{ agent: job.agent, headline: head, color: "cyan", detail: promptFirstLine(job) }];
  },
  "job:output": ({ job_id, agent, message }, knownJobs) => {
    knownJobs.agentByJob.set(job_id, agent);
    return parseLogMessage({ ...message }).flatMap((event) =>
      describeJobEvent(event, agent, job_id, knownJobs),
    );
  },
  // Without an outcome, the job waits for an answer or for another job. `approval:requested` covers answers.
  "job:waiting": ({ job: { agent, outcome, due_at, waits_for } }) =>
    outcome === null
      ? waits_for
          .slice(-1)
          .map((id) => ({ agent, headline: "◔ waiting for", color: "yellow" as const, detail: id }))
      : [
          {
            agent,
            headline: `◔ ${formatWait({ outcome, due_at })}`,
            color: "yellow",
            detail: outcome.message,
          },
        ],
  "job:completed": describeJobEnd,
  "job:failed": describeJobEnd,
  "job:cancelled": describeJobEnd,
  "job:skipped": describeJobEnd,
  "approval:requested": ({ approval }, { agentByJob, workingDirectories }) => {
    const { job_id } = approval;
    const agent = agentByJob.get(job_id) ?? job_id;
    const [answerCommand = ""] = answerCommands(approval);
    return [
      { agent, ...describeApproval(approval, workingDirectories.get(job_id)), color: "yellow" },
      { agent, headline: `  ${answerCommand}`, color: "yellow" },
    ];
  },
  "approval:answered": ({ approval }, { agentByJob }) => {
    const { job_id, kind, tool, answer, answered_by, reply } = approval;
    const { mark, color, ...answerText } = answerTexts[answer ?? "void"];
    const by = answered_by === null ? "" : ` by ${answered_by}`;
    const result =
      kind === "question"
        ? answerText.question
        : `${displayToolName(tool)} ${answerText.permission}`;
    const agent = agentByJob.get(job_id) ?? job_id;
    return [{ agent, headline: `${mark} ${result}${by}`, color, detail: reply ?? "" }];
  },
  // Successful hooks are shown on the job's page only.
  "hook:attempted": ({ hook: { agent, type, event, status, message } }) => {
    if (status === "succeeded") return [];
    const head =
      status === "failed" ? `✗ ${event} ${type} failed` : `! ${event} ${type} failed, will retry`;
    return [
      {
        agent,
        headline: head,
        color: status === "failed" ? "red" : "yellow",
        detail: message ?? "",
      },
    ];
  },
  // An accepted delivery creates a job, whose events are printed.
  "delivery:received": () => [],
  "schedule:not_run": ({ due }) => [
    {
      agent: due.agent,
      headline: `– ${due.schedule} ${due.result}`,
      color: "yellow",
      detail: dueReasonText(due),
    },
  ],
  "schedule:toggled": ({ agent, schedule, enabled }) => [
    { agent, headline: `${enabled ? "▶" : "‖"} ${schedule} ${enabled ? "enabled" : "disabled"}` },
  ],
  "agent:paused": ({ agent, reason }) => [
    { agent, headline: "‖ paused", color: "red", detail: reason },
    { agent, headline: `  herdctl resume ${agent}`, color: "red" },
  ],
  "agent:resumed": ({ agent }) => [{ agent, headline: "▶ resumed", color: "green" }],
  "fleet:reloaded": () => [{ headline: "✓ configuration reloaded", color: "green" }],
  "fleet:problem": ({ message }) =>
    message
      .split("\n")
      .map((line, at) => ({ headline: `${at === 0 ? "!" : " "} ${line}`, color: "red" })),
  "fleet:stopping": () => [{ headline: "■ stopping", color: "yellow" }],
};

interface AnswerText {
  permission: string;
  question: string;
  mark: string;
  color: ColorName;
}

const answerTexts: Record<Answer, AnswerText> = {
  allow: { permission: "allowed", question: "allowed", mark: "✓", color: "green" },
  deny: { permission: "denied", question: "declined", mark: "✗", color: "red" },
  reply: { permission: "answered", question: "answered", mark: "✓", color: "green" },
  default: {
    permission: "answered",
    question: "no answer in time: using the default",
    mark: "✓",
    color: "yellow",
  },
  expired: {
    permission: "denied: no answer in time",
    question: "no answer in time",
    mark: "✗",
    color: "red",
  },
  void: {
    permission: "request withdrawn",
    question: "question withdrawn",
    mark: "–",
    color: "dim",
  },
};

function describeApproval(
  approval: Approval,
  folder: string | undefined,
): Pick<FleetEventEntry, "headline" | "detail"> {
  const { kind, tool, input, question, choices } = approval;
  if (kind === "permission")
    return {
      headline: `? wants to use ${displayToolName(tool)}`,
      detail: summarizeToolCall(tool, input, folder),
    };
  const labels = choices?.map(({ label }) => label).join(", ");
  return {
    headline: `? ${question?.split("\n")[0] ?? ""}`,
    ...(labels !== undefined && { detail: labels }),
  };
}

function describeJobEnd({ job }: { job: Job }, knownJobs: KnownJobs): FleetEventEntry[] {
  for (const map of [knownJobs.agentByJob, knownJobs.workingDirectories, knownJobs.startedAttempts])
    map.delete(job.id);
  const head = `${statusMark(job)} ${statusText(job)}`;
  return [
    { agent: job.agent, headline: head, color: statusColorName(job), detail: jobEndSummary(job) },
  ];
}

function describeJobEvent(
  event: JobEvent,
  agent: string,
  jobId: string,
  { workingDirectories }: KnownJobs,
): FleetEventEntry[] {
  switch (event.kind) {
    case "started":
      workingDirectories.set(jobId, event.cwd);
      return [];
    case "tool_call": {
      const summary = summarizeToolCall(event.tool, event.input, workingDirectories.get(jobId));
      return event.parent === null
        ? [{ agent, headline: `▸ ${displayToolName(event.tool)}`, detail: summary }]
        : [];
    }
    case "denied":
    case "retry":
    case "limit": {
      const text = noticeText(event);
      return text === undefined ? [] : [{ agent, headline: `! ${text}`, color: "yellow" }];
    }
    default:
      return [];
  }
}

function promptFirstLine({ prompt }: Job): string {
  return prompt.trim().split("\n")[0] ?? "";
}
