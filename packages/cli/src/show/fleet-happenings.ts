import type { Approval, FleetEvent, Job, JobEvent } from "@herdctl/core";
import { gistOf, toolName } from "@herdctl/core/light";
import { dueReason } from "./due-reason.ts";
import { endingTail } from "./ending.ts";
import { noticeText } from "./event-lines.ts";
import { eventsOfLine } from "./events-of-line.ts";
import { answerCommands } from "./question-lines.ts";
import { type Colour, statusHue, statusMark, statusWord } from "./status.ts";
import { waitText } from "./wait-text.ts";

/** One thing that happened: to whom, what, and more of it as far as there is room. Not yet harmless. */
export interface Happening {
  /** Undefined when it is the fleet's own affair. */
  agent?: string;
  head: string;
  colour?: Colour;
  rest?: string;
}

/** What is remembered of the jobs under way, to tell of them. */
export interface KnownJobs {
  agents: Map<string, string>;
  folders: Map<string, string>;
  /** The last attempt whose start was told. */
  attempts: Map<string, number>;
}

/** What matters of an event to somebody who looks on: mostly one thing, often nothing. */
export function happenings(event: FleetEvent, known: KnownJobs): Happening[] {
  const tell = tellers[event.type];
  return tell(event as never, known);
}

type Of<T extends FleetEvent["type"]> = Extract<FleetEvent, { type: T }>;
type Answer = NonNullable<Approval["answer"]>;
type Tellers = { [T in FleetEvent["type"]]: (event: Of<T>, known: KnownJobs) => Happening[] };

const tellers: Tellers = {
  "job:created": ({ job }, { agents }) => {
    agents.set(job.id, job.agent);
    return [{ agent: job.agent, head: `○ ${job.id}`, colour: "dim", rest: gistOfPrompt(job) }];
  },
  "job:started": ({ job }, { agents, attempts }) => {
    agents.set(job.id, job.agent);
    // It also goes on after an answer, which has been told already.
    if (attempts.get(job.id) === job.attempts) return [];
    attempts.set(job.id, job.attempts);
    const head = job.attempts > 1 ? `◐ started, attempt ${job.attempts}` : "◐ started";
    return [{ agent: job.agent, head, colour: "cyan", rest: gistOfPrompt(job) }];
  },
  "job:output": ({ job_id, agent, message }, known) => {
    known.agents.set(job_id, agent);
    return eventsOfLine({ ...message }).flatMap((event) => work(event, agent, job_id, known));
  },
  // Without an outcome it waits for an answer, and what it asks is told as well.
  "job:waiting": ({ job: { agent, outcome, due_at, waits_for } }) =>
    outcome === null
      ? waits_for
          .slice(-1)
          .map((id) => ({ agent, head: "◔ waits for", colour: "yellow", rest: id }))
      : [
          {
            agent,
            head: `◔ ${waitText({ outcome, due_at })}`,
            colour: "yellow",
            rest: outcome.message,
          },
        ],
  "job:completed": ending,
  "job:failed": ending,
  "job:cancelled": ending,
  "job:skipped": ending,
  "approval:asked": ({ approval }, { agents, folders }) => {
    const { job_id } = approval;
    const agent = agents.get(job_id) ?? job_id;
    const [how = ""] = answerCommands(approval);
    return [
      { agent, ...askedOf(approval, folders.get(job_id)), colour: "yellow" },
      { agent, head: `  ${how}`, colour: "yellow" },
    ];
  },
  "approval:answered": ({ approval }, { agents }) => {
    const { job_id, kind, tool, answer, answered_by, reply } = approval;
    const { mark, colour, ...words } = answers[answer ?? "void"];
    const by = answered_by === null ? "" : ` by ${answered_by}`;
    const what = kind === "question" ? words.question : `${toolName(tool)} ${words.permission}`;
    const rest = reply === null ? {} : { rest: reply };
    return [{ agent: agents.get(job_id) ?? job_id, head: `${mark} ${what}${by}`, colour, ...rest }];
  },
  // What goes well is on the job's page; who looks on wants to know what does not.
  "hook:tried": ({ hook: { agent, type, event, status, message } }) => {
    if (status === "succeeded") return [];
    const head = status === "failed" ? `✗ ${event} ${type} given up` : `! ${event} ${type} failed`;
    return [{ agent, head, colour: status === "failed" ? "red" : "yellow", rest: message ?? "" }];
  },
  // What is wanted becomes a job, which is told.
  "delivery:received": () => [],
  "schedule:not_run": ({ due }) => [
    {
      agent: due.agent,
      head: `– ${due.schedule} ${due.result}`,
      colour: "yellow",
      rest: dueReason(due),
    },
  ],
  "schedule:switched": ({ agent, schedule, enabled }) => [
    { agent, head: `${enabled ? "▶" : "‖"} ${schedule} switched ${enabled ? "on" : "off"}` },
  ],
  "agent:paused": ({ agent, reason }) => [
    { agent, head: "‖ paused", colour: "red", rest: reason },
    { agent, head: `  herdctl resume ${agent}`, colour: "red" },
  ],
  "agent:resumed": ({ agent }) => [{ agent, head: "▶ goes on", colour: "green" }],
  "fleet:reloaded": () => [{ head: "✓ configuration read again", colour: "green" }],
  "fleet:problem": ({ message }) =>
    message
      .split("\n")
      .map((line, at) => ({ head: `${at === 0 ? "!" : " "} ${line}`, colour: "red" })),
  "fleet:stopping": () => [{ head: "■ stopping", colour: "yellow" }],
};

interface AnswerWords {
  permission: string;
  question: string;
  mark: string;
  colour: Colour;
}

const answers: Record<Answer, AnswerWords> = {
  allow: { permission: "allowed", question: "allowed", mark: "✓", colour: "green" },
  deny: { permission: "denied", question: "not answered: declined", mark: "✗", colour: "red" },
  reply: { permission: "answered", question: "answered", mark: "✓", colour: "green" },
  default: {
    permission: "answered",
    question: "nobody answered: its default counts",
    mark: "✓",
    colour: "yellow",
  },
  expired: {
    permission: "denied: nobody answered in time",
    question: "nobody answered in time",
    mark: "✗",
    colour: "red",
  },
  void: {
    permission: "no longer asked for",
    question: "no longer asked",
    mark: "–",
    colour: "dim",
  },
};

function askedOf(approval: Approval, folder: string | undefined): Pick<Happening, "head" | "rest"> {
  const { kind, tool, input, question, choices } = approval;
  if (kind === "permission")
    return { head: `? asks to use ${toolName(tool)}`, rest: gistOf(tool, input, folder) };
  const rest = choices?.map(({ label }) => label).join(", ");
  return { head: `? ${question?.split("\n")[0] ?? ""}`, ...(rest !== undefined && { rest }) };
}

function ending({ job }: { job: Job }, known: KnownJobs): Happening[] {
  for (const memory of [known.agents, known.folders, known.attempts]) memory.delete(job.id);
  const head = `${statusMark(job)} ${statusWord(job)}`;
  return [{ agent: job.agent, head, colour: statusHue(job), rest: endingTail(job) }];
}

function work(event: JobEvent, agent: string, jobId: string, { folders }: KnownJobs): Happening[] {
  switch (event.kind) {
    case "started":
      folders.set(jobId, event.cwd);
      return [];
    case "tool_call": {
      const gist = gistOf(event.tool, event.input, folders.get(jobId));
      return event.parent === null
        ? [{ agent, head: `▸ ${toolName(event.tool)}`, rest: gist }]
        : [];
    }
    case "denied":
    case "retry":
    case "limit": {
      const text = noticeText(event);
      return text === undefined ? [] : [{ agent, head: `! ${text}`, colour: "yellow" }];
    }
    default:
      return [];
  }
}

function gistOfPrompt({ prompt }: Job): string {
  return prompt.trim().split("\n")[0] ?? "";
}
