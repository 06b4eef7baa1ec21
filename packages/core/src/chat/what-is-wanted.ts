import { commandOf } from "./commands.ts";
import type { IncomingMessage } from "./connector.ts";
import { maySpeak, type SpeakRules } from "./may-speak.ts";

export interface ListenRules extends SpeakRules {
  mode: "mention" | "auto";
  directMode: "mention" | "auto";
  modes: Record<string, "mention" | "auto">;
}

export type Wanted =
  | { kind: "ignored"; why: string }
  | { kind: "command"; name: string; argument: string }
  /** An answer; where we listen to mentions only, with what was said before. */
  | { kind: "answer"; withContext: boolean };

export function whatIsWanted(rules: ListenRules, message: IncomingMessage): Wanted {
  const { room, sender, text, mentionsUs, attachments } = message;
  const hearing = maySpeak(rules, room, sender);
  if (!hearing.heard) return { kind: "ignored", why: hearing.why };
  const mode = modeOf(rules, message);
  if (mode === "mention" && !mentionsUs) return { kind: "ignored", why: "we are not mentioned" };
  const command = commandOf(text);
  if (command) return { kind: "command", ...command };
  if (text.trim() === "" && attachments.length === 0) {
    return { kind: "ignored", why: "it says nothing" };
  }
  return { kind: "answer", withContext: mode === "mention" };
}

function modeOf({ mode, directMode, modes }: ListenRules, { room }: IncomingMessage) {
  if (room.direct) return directMode;
  return (room.thread !== null && modes[room.thread]) || modes[room.channel] || mode;
}
