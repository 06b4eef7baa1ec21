import type { NodeView } from "@herdctl/protocol";
import { formatDuration } from "./format-amounts.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

/** Clocks that are off by more than this cause a warning. */
const skewWarningMs = 1_000;

/** One line per node, live nodes first, and warnings below. */
export function nodeTableLines(rawNodes: NodeView[], style: TerminalStyle): string[] {
  const nodes = sanitizeDeep(rawNodes).toSorted((a, b) => statusRank(a) - statusRank(b));
  const { bold, dim, yellow } = style.colors;
  const columns: Column<NodeView>[] = [
    { title: "NODE", text: nameText, color: (node) => (node.self ? bold : (text) => text) },
    { title: "STATE", text: stateText, color: (node) => stateColor(node, style) },
    { title: "ROLE", text: roleText },
    { title: "JOBS", align: "right", text: loadText },
    { title: "LAST SEEN", align: "right", text: heartbeatAgeText, color: () => dim },
    {
      title: "CLOCK",
      hideIfNarrow: true,
      align: "right",
      text: skewText,
      color: (node) => (isSkewed(node.clock_skew_ms) ? yellow : dim),
    },
    { title: "VERSION", hideIfNarrow: true, text: ({ version }) => version, color: () => dim },
    { title: "LABELS", text: ({ labels }) => labels.join(", ") },
  ];
  const warnings = nodeWarnings(nodes).map((line) => yellow(`! ${line}`));
  return [...tableLines(columns, nodes, style), ...warnings];
}

function statusRank({ status }: NodeView): number {
  return status === "live" ? 0 : 1;
}

function nameText({ name, self }: NodeView): string {
  return self ? `${name} (here)` : name;
}

function stateText({ status, config_current }: NodeView): string {
  if (status === "left") return "○ stopped";
  if (status === "lost") return "✗ lost";
  return config_current ? "● live" : "● different configuration";
}

function stateColor({ status, config_current }: NodeView, { colors }: TerminalStyle) {
  if (status === "live") return config_current ? colors.green : colors.yellow;
  return status === "lost" ? colors.red : colors.dim;
}

function roleText({ role, leader }: NodeView): string {
  return leader ? `${role}, leader` : role;
}

function loadText({ status, role, running, capacity }: NodeView): string {
  if (status !== "live") return "";
  return role === "control" ? "–" : `${running} of ${capacity}`;
}

function heartbeatAgeText({ seconds_since_heartbeat: ageSeconds }: NodeView): string {
  return ageSeconds < 3 ? "now" : `${formatDuration(Math.floor(ageSeconds))} ago`;
}

function skewText({ status, clock_skew_ms: skew }: NodeView): string {
  if (status !== "live" || skew === null) return "";
  if (Math.abs(skew) < 10) return "ok";
  const amount = Math.abs(skew) < 1_000 ? `${Math.abs(Math.round(skew))} ms` : seconds(skew);
  return `${amount} ${skew > 0 ? "fast" : "slow"}`;
}

function seconds(ms: number): string {
  return formatDuration(Math.abs(ms) / 1_000);
}

function isSkewed(skew: number | null): boolean {
  return skew !== null && Math.abs(skew) >= skewWarningMs;
}

function nodeWarnings(nodes: NodeView[]): string[] {
  const live = nodes.filter(({ status }) => status === "live");
  const versions = [...new Set(live.map(({ version }) => version))];
  return [
    ...live
      .filter(({ config_current }) => !config_current)
      .map(
        ({ name }) =>
          `${name} has a different configuration and gets no new jobs. Copy the same files to it.`,
      ),
    ...live
      .filter(({ clock_skew_ms }) => isSkewed(clock_skew_ms))
      .map(({ name }) => `The clock of ${name} is wrong. Synchronize it with a time server.`),
    ...(versions.length > 1 ? [`The nodes run different versions: ${versions.join(", ")}.`] : []),
  ];
}
