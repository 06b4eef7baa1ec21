import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";

const mask = "[redacted]";

type Delta = { type: string } & Record<string, unknown>;

/** Redacts text piece by piece. */
export interface TextStream {
  add(text: string): string;
  /** What was still held back. */
  end(): string;
}

/** Field of a partial message that holds its text, by the kind of the delta. */
const textFields: Record<string, string> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

/**
 * Replaces known secrets in what a run shows, before it is stored or sent to anybody. Found are a
 * value as it is, escaped in JSON once or twice, percent-encoded, and the whole of it in base64.
 */
export class Redactor {
  /** In every form that is looked for, the longest first. */
  private readonly forms: readonly string[];
  /** What partial messages held back, because a secret may begin there; by block. */
  private readonly held = new Map<string, SDKMessage>();

  constructor(secrets: readonly string[]) {
    const forms = secrets.flatMap((secret) => formsOf(secret).flatMap(escapedForms));
    this.forms = [...new Set(forms)].sort((a, b) => b.length - a.length);
  }

  /** The value without secrets; the same object when there are none in it. */
  redact<T>(value: T): T;
  redact(value: unknown): unknown {
    if (this.forms.length === 0) return value;
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const clean = value.map((one) => this.redact(one));
      return clean.every((one, index) => one === value[index]) ? value : clean;
    }
    const entries = Object.entries(value).map(
      ([key, one]) => [this.text(key), this.redact(one), key, one] as const,
    );
    const isClean = entries.every(([key, one, keyBefore, before]) => {
      return key === keyBefore && one === before;
    });
    return isClean ? value : Object.fromEntries(entries);
  }

  /**
   * A message without secrets. The end of a partial message that may be the beginning of a secret
   * waits for the next one of its block.
   */
  messages(message: SDKMessage): SDKMessage[] {
    if (this.forms.length === 0) return [message];
    if (message.type !== "stream_event") return [this.redact(message)];
    const { event } = message;
    const block = `${message.parent_tool_use_id}/${"index" in event ? event.index : ""}`;
    if (event.type === "content_block_stop") {
      const last = this.held.get(block);
      this.held.delete(block);
      return last ? [this.redact(last), message] : [message];
    }
    if (event.type !== "content_block_delta") return [this.redact(message)];
    return this.partial(message, block, { ...event.delta });
  }

  /** For text that comes in pieces: the end of one that may begin a secret waits for the next. */
  textStream(): TextStream {
    let held = "";
    return {
      add: (text) => {
        const whole = this.text(held + text);
        const end = whole.length - this.openEnd(whole);
        held = whole.slice(end);
        return whole.slice(0, end);
      },
      end: () => {
        const rest = held;
        held = "";
        return rest;
      },
    };
  }

  private partial(message: SDKMessage, block: string, delta: Delta): SDKMessage[] {
    const field = textFields[delta.type];
    const text = field === undefined ? undefined : delta[field];
    if (field === undefined || typeof text !== "string") return [this.redact(message)];
    const before = this.held.get(block);
    const whole = this.text(`${before ? deltaText(before, field) : ""}${text}`);
    const end = whole.length - this.openEnd(whole);
    this.held.delete(block);
    if (end < whole.length) this.held.set(block, withText(message, field, whole.slice(end)));
    return end > 0 ? [withText(message, field, whole.slice(0, end))] : [];
  }

  /** How many characters at the end are the beginning of a secret. */
  private openEnd(text: string): number {
    return this.forms.reduce((longest, form) => {
      for (let length = Math.min(form.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(form.slice(0, length))) return length;
      }
      return longest;
    }, 0);
  }

  private text(text: string): string {
    return this.forms.reduce(
      (clean, form) => (clean.includes(form) ? clean.replaceAll(form, () => mask) : clean),
      text,
    );
  }
}

function deltaText(message: SDKMessage, field: string): string {
  if (message.type !== "stream_event" || message.event.type !== "content_block_delta") return "";
  const delta: Delta = { ...message.event.delta };
  return String(delta[field] ?? "");
}

function withText(message: SDKMessage, field: string, text: string): SDKMessage {
  if (message.type !== "stream_event" || message.event.type !== "content_block_delta")
    return message;
  const delta = { ...message.event.delta, [field]: text };
  return { ...message, event: { ...message.event, delta } };
}

function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  // The last digit also depends on what follows.
  return [secret, encodeURIComponent(secret), base64.slice(0, -1)];
}

function escapedForms(text: string): string[] {
  const once = JSON.stringify(text).slice(1, -1);
  return [text, once, JSON.stringify(once).slice(1, -1)];
}
