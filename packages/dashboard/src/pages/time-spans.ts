const hourMs = 3_600_000;

/** Time ranges of filters, by their value in the URL. */
export const spanMs = {
  "1h": hourMs,
  "24h": 24 * hourMs,
  "7d": 168 * hourMs,
  "30d": 720 * hourMs,
} as const;
export type Span = keyof typeof spanMs;

export const spanLabels: Record<Span, string> = {
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
};

export function isSpan(value: unknown): value is Span {
  return typeof value === "string" && Object.hasOwn(spanMs, value);
}
