/** Output of agents, tools and future versions of Claude Code may have any shape, so fields are read defensively. */
export type UnknownFields = Readonly<Record<string, unknown>>;

export function toFields(value: unknown): UnknownFields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is UnknownFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function toFieldsList(value: unknown): UnknownFields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function toTextOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function toNumberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Claude Code's timestamp, or the one the runner added. */
export function readTimestamp({ timestamp, herdctl_at, at }: UnknownFields): number | null {
  const time = Date.parse(toText(timestamp ?? herdctl_at ?? at));
  return Number.isNaN(time) ? null : time;
}
