import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import {
  type Environment,
  listSecretValues,
  minSecretLength,
  type ResolvedAgent,
  readEnvironment,
} from "@herdctl/config";

const mask = "[redacted]";

type Delta = { type: string } & Record<string, unknown>;

/** Redacts text that arrives in chunks. */
export interface TextRedactor {
  add(text: string): string;
  /** The text that was still held back. */
  end(): string;
}

/** The field that holds the text of a partial message, by delta type. */
const textFields: Record<string, string> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

/**
 * Replaces known secrets in the output of a run before it is stored or sent. It finds the plain value
 * and its JSON-escaped (once or twice), percent-encoded and base64 forms.
 */
export class Redactor {
  /** All encoded forms of all secrets, longest first. */
  private readonly secretForms: readonly string[];
  /** By block: the end of a partial message that may be the start of a secret. */
  private readonly held = new Map<string, SDKMessage>();

  constructor(secrets: readonly string[]) {
    const secretForms = secrets.flatMap((secret) =>
      encodedFormsOf(secret).flatMap(jsonEscapedFormsOf),
    );
    this.secretForms = [...new Set(secretForms)].sort((a, b) => b.length - a.length);
  }

  /** The value without secrets; the same object if it contains none. */
  redact<T>(value: T): T;
  redact(value: unknown): unknown {
    if (this.secretForms.length === 0) return value;
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const clean = value.map((item) => this.redact(item));
      return clean.every((item, index) => item === value[index]) ? value : clean;
    }
    const entries = Object.entries(value).map(
      ([key, inner]) => [this.text(key), this.redact(inner), key, inner] as const,
    );
    const isUnchanged = entries.every(([key, inner, keyBefore, innerBefore]) => {
      return key === keyBefore && inner === innerBefore;
    });
    return isUnchanged ? value : Object.fromEntries(entries);
  }

  /**
   * A message without secrets. If the end of a partial message may be the start of a secret, it is
   * held back until the next message of the block.
   */
  redactMessage(message: SDKMessage): SDKMessage[] {
    if (this.secretForms.length === 0) return [message];
    if (message.type !== "stream_event") return [this.redact(message)];
    const { event } = message;
    const block = `${message.parent_tool_use_id}/${"index" in event ? event.index : ""}`;
    if (event.type === "content_block_stop") {
      const last = this.held.get(block);
      this.held.delete(block);
      return last ? [this.redact(last), message] : [message];
    }
    if (event.type !== "content_block_delta") return [this.redact(message)];
    return this.redactPartial(message, block, { ...event.delta });
  }

  /** For text in chunks: holds back the end of a chunk that may be the start of a secret. */
  createTextRedactor(): TextRedactor {
    let held = "";
    return {
      add: (text) => {
        const whole = this.text(held + text);
        const end = whole.length - this.partialMatchLength(whole);
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

  private redactPartial(message: SDKMessage, block: string, delta: Delta): SDKMessage[] {
    const field = textFields[delta.type];
    const text = field === undefined ? undefined : delta[field];
    if (field === undefined || typeof text !== "string") return [this.redact(message)];
    const before = this.held.get(block);
    const whole = this.text(`${before ? deltaText(before, field) : ""}${text}`);
    const end = /* defence: split-secret-held */ whole.length - this.partialMatchLength(whole);
    this.held.delete(block);
    if (end < whole.length) this.held.set(block, withText(message, field, whole.slice(end)));
    return end > 0 ? [withText(message, field, whole.slice(0, end))] : [];
  }

  /** The number of characters at the end that may be the start of a secret. */
  private partialMatchLength(text: string): number {
    return this.secretForms.reduce((longest, form) => {
      for (let length = Math.min(form.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(form.slice(0, length))) return length;
      }
      return longest;
    }, 0);
  }

  private text(text: string): string {
    return this.secretForms.reduce(
      (clean, form) =>
        clean.includes(form)
          ? /* defence: secret-replaced */ clean.replaceAll(form, () => mask)
          : clean,
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

function encodedFormsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  // The last base64 digit also depends on the following bytes.
  return [secret, encodeURIComponent(secret), base64.slice(0, -1)];
}

function jsonEscapedFormsOf(text: string): string[] {
  const once = JSON.stringify(text).slice(1, -1);
  return [text, once, JSON.stringify(once).slice(1, -1)];
}

/**
 * All secrets to redact in a run's output: variables whose names suggest a secret, variables that the
 * configuration names in `*_env` fields, values in `.env`, and variables and headers of MCP servers.
 */
export function knownSecrets(
  agent: Pick<ResolvedAgent, "env" | "mcp_servers" | "fleet_dir">,
  environment: Environment,
): string[] {
  const named = secretVariableNames(agent).flatMap((name) => environment[name] ?? []);
  const values = [
    ...listSecretValues({ ...environment, ...agent.env }),
    ...named,
    ...Object.values(readEnvFile(agent.fleet_dir)).filter(looksSecret),
    ...serverSecrets(agent.mcp_servers),
  ];
  return [...new Set(values)].filter((value) => value.length >= minSecretLength);
}

/** Excludes paths, URLs without a password, and plain words. */
function looksSecret(value: string | undefined): value is string {
  if (value === undefined || value.length < minSecretLength) return false;
  return !/^[a-z_-]+$|^[\d.,:-]+$|^[~./]|^https?:\/\/[^@]*$|\s/i.test(value);
}

function readEnvFile(fleetDir: string): Environment {
  try {
    return readEnvironment(fleetDir, {});
  } catch {
    return {};
  }
}

/** Values of headers and variables, also without a leading `Bearer` or similar. */
function serverSecrets(servers: ResolvedAgent["mcp_servers"]): string[] {
  const texts = Object.values(servers).flatMap((server) => [
    ...Object.values("env" in server ? (server.env ?? {}) : {}),
    ...Object.values("headers" in server ? (server.headers ?? {}) : {}),
  ]);
  return texts
    .flatMap((text) => [text, text.replace(/^(Bearer|Basic|token)\s+/i, "")])
    .filter(looksSecret);
}

/** Values of fields such as `token_env` and `secret_env`, at any depth. */
function secretVariableNames(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner === "string") return key.endsWith("_env") ? [inner] : [];
    return secretVariableNames(inner);
  });
}
