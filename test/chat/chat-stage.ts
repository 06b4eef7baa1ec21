import type { FleetManager } from "@herdctl/core";
import type { Script } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { type Stage, stage } from "../support/stage.ts";
import type { ChatStandIn, SeenPost } from "./chat-stand-in.ts";

/** A platform of which a test may have it that it takes little in a short time. */
export type OpenChat = (limited?: boolean) => Promise<ChatStandIn>;

export interface ChatStage {
  on: Stage;
  chat: ChatStandIn;
  file: string;
  fleet: FleetManager;
  /** The agent's posts that are no longer being worked on. */
  answers(room: string): SeenPost[];
  answered(room: string, count?: number): Promise<SeenPost[]>;
}

interface ChatStageOptions {
  script?: Script;
  /** More of the agent's `chat` block. */
  more?: string;
  agent?: string;
  /** The platform takes one post at a time, and few. */
  limited?: boolean;
  /** Called before the fleet starts. */
  before?: (chat: ChatStandIn) => void;
}

const isDone = ({ text }: SeenPost) => !text.includes("⏳");

export type SetStage = (options?: ChatStageOptions) => Promise<ChatStage>;

/** A fleet of one agent that is in a chat. */
export function chatStageOf(open: OpenChat): SetStage {
  return async (options = {}) => {
    const chat = await open(options.limited);
    onTestFinished(() => chat.stop());
    const on = await stage({ script: options.script ?? { default: "Good morning." } });
    for (const room of ["general", "random"]) chat.channel(room);
    options.before?.(chat);
    const file = fleetFile(on, agentOf(chat, options));
    const here = { ...on, env: { ...on.env, ...chat.env } };
    const fleet = await startFleet(here, file, { chat: chat.platforms });
    await until("the chat to be connected", async () => {
      const [link] = await fleet.chat();
      if (link?.state === "failed") throw new Error(link.problem ?? "");
      return link?.state === "connected";
    });
    const answers = (room: string) => chat.posts(room).filter(isDone);
    const answered = (room: string, count = 1) => {
      const found = async () => answers(room).length >= count && answers(room);
      return until(`${count} answers`, found, 30_000 + 15_000 * count);
    };
    return { on: here, chat, file, fleet, answers, answered };
  };
}

function agentOf(chat: ChatStandIn, { more = "", agent = "" }: ChatStageOptions): string {
  const [ann, dora] = [chat.userId("ann"), chat.userId("dora")];
  const lists = `users: ["${ann}"], direct_messages: ["${dora}"], approvers: ["${ann}", "${dora}"]`;
  const block = `{ ${chat.settings}, ${lists} ${more && `, ${more}`} }`;
  return `  - name: one
    runtime: cli
    max_concurrent: 3
    schedules: { nightly: { type: cron, cron: "0 0 1 1 *", prompt: "the nightly work" } }
    chat: { ${chat.platform}: ${block} }
${agent.replace(/^/gm, "    ")}`;
}

export function sessionsOf({ on }: ChatStage): (string | undefined)[] {
  return [...new Set(on.rehearsal.ledger.main.map(({ sessionId }) => sessionId))];
}

/** Long enough for something to come that must not. */
export function quiet(): Promise<void> {
  return new Promise((done) => setTimeout(done, 600));
}
