import type { FleetManager } from "@herdctl/core/internal";
import type { Script } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import type { ChatStandIn, ObservedPost } from "./chat-stand-in.ts";

/** Opens the stand-in, optionally with a low rate limit. */
export type OpenChat = (isRateLimited?: boolean) => Promise<ChatStandIn>;

export interface ChatHarness {
  harness: TestHarness;
  chat: ChatStandIn;
  file: string;
  fleet: FleetManager;
  /** The agent's posts without those that are still in progress. */
  finalPosts(room: string): ObservedPost[];
  waitForAnswers(room: string, count?: number): Promise<ObservedPost[]>;
}

interface ChatHarnessOptions {
  script?: Script;
  /** More lines of the agent's `chat` block. */
  more?: string;
  agent?: string;
  /** The platform accepts only a few posts, one at a time. */
  isRateLimited?: boolean;
  /** Called before the fleet starts. */
  before?: (chat: ChatStandIn) => void;
}

const isFinal = ({ text }: ObservedPost) => !text.includes("⏳");

export type StartChatHarness = (options?: ChatHarnessOptions) => Promise<ChatHarness>;

/** A fleet of one agent with a chat connection. */
export function chatHarnessFactory(open: OpenChat): StartChatHarness {
  return async (options = {}) => {
    const chat = await open(options.isRateLimited);
    onTestFinished(() => chat.stop());
    const harness = await startHarness({ script: options.script ?? { default: "Good morning." } });
    for (const room of ["general", "random"]) chat.channel(room);
    options.before?.(chat);
    const file = writeFleetFile(harness, agentYaml(chat, options));
    const here = { ...harness, env: { ...harness.env, ...chat.env } };
    const fleet = await startFleetInProcess(here, file, { chat: chat.platforms });
    await waitUntil("the chat to be connected", async () => {
      const [link] = await fleet.chat.connections();
      if (link?.state === "failed") throw new Error(link.problem ?? "");
      return link?.state === "connected";
    });
    const finalPosts = (room: string) => chat.posts(room).filter(isFinal);
    const waitForAnswers = (room: string, count = 1) => {
      const found = async () => finalPosts(room).length >= count && finalPosts(room);
      return waitUntil(`${count} answers`, found, 30_000 + 15_000 * count);
    };
    return { harness: here, chat, file, fleet, finalPosts, waitForAnswers };
  };
}

function agentYaml(chat: ChatStandIn, { more = "", agent = "" }: ChatHarnessOptions): string {
  const [ann, dora] = [chat.userId("ann"), chat.userId("dora")];
  const lists = `users: ["${ann}"], direct_message_users: ["${dora}"], approvers: ["${ann}", "${dora}"]`;
  const block = `{ ${chat.settings}, ${lists} ${more && `, ${more}`} }`;
  return `  - name: one
    runtime: cli
    max_concurrent: 3
    schedules: { nightly: { type: cron, cron: "0 0 1 1 *", prompt: "the nightly work" } }
    chat: { ${chat.platform}: ${block} }
${agent.replace(/^/gm, "    ")}`;
}

export function sessionIds({ harness }: ChatHarness): (string | undefined)[] {
  return [...new Set(harness.rehearsal.ledger.main.map(({ sessionId }) => sessionId))];
}

/** Long enough for an unwanted message to arrive. */
export function waitForQuiet(): Promise<void> {
  return new Promise((done) => setTimeout(done, 600));
}
