/** Agents, their tools and later versions of claude may say anything: nothing is taken on trust. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Claude's own time, else the one that the runner put there. */
export function timeOf({ timestamp, herdctl_at, at }: Fields): number | null {
  const time = Date.parse(textOf(timestamp ?? herdctl_at ?? at));
  return Number.isNaN(time) ? null : time;
}
