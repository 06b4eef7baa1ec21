import type { NodeView } from "@herdctl/core";
import { durationText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";

/** Beyond this a clock is wrong enough to be told. */
const tellSkew = 1_000;

/** One line a node, those that take part first, and below what somebody should know. */
export function nodeLines(given: NodeView[], look: Look): string[] {
  const nodes = harmlessAll(given).toSorted((a, b) => rank(a) - rank(b));
  const { bold, dim, yellow } = look.colors;
  const columns: Column<NodeView>[] = [
    { title: "NODE", text: nameText, paint: (node) => (node.here ? bold : (text) => text) },
    { title: "STATE", text: stateText, paint: (node) => stateColour(node, look) },
    { title: "ROLE", text: roleText },
    { title: "JOBS", align: "right", text: loadText },
    { title: "HEARD OF", align: "right", text: heardText, paint: () => dim },
    {
      title: "CLOCK",
      spare: true,
      align: "right",
      text: skewText,
      paint: (node) => (isWrong(node.skew_ms) ? yellow : dim),
    },
    { title: "VERSION", spare: true, text: ({ version }) => version, paint: () => dim },
    { title: "LABELS", text: ({ labels }) => labels.join(", ") },
  ];
  const warnings = warningsOf(nodes).map((line) => yellow(`! ${line}`));
  return [...tableLines(columns, nodes, look), ...warnings];
}

function rank({ status }: NodeView): number {
  return status === "live" ? 0 : 1;
}

function nameText({ name, here }: NodeView): string {
  return here ? `${name} (here)` : name;
}

function stateText({ status, config_in_force }: NodeView): string {
  if (status === "left") return "○ stopped";
  if (status === "lost") return "✗ lost";
  return config_in_force ? "● live" : "● other configuration";
}

function stateColour({ status, config_in_force }: NodeView, { colors }: Look) {
  if (status === "live") return config_in_force ? colors.green : colors.yellow;
  return status === "lost" ? colors.red : colors.dim;
}

function roleText({ role, lead }: NodeView): string {
  return lead ? `${role}, leads` : role;
}

function loadText({ status, role, running, capacity }: NodeView): string {
  if (status !== "live") return "";
  return role === "control" ? "runs none" : `${running} of ${capacity}`;
}

function heardText({ seconds_since_beat: seconds }: NodeView): string {
  return seconds < 3 ? "now" : `${durationText(Math.floor(seconds))} ago`;
}

function skewText({ status, skew_ms: skew }: NodeView): string {
  if (status !== "live" || skew === null) return "";
  if (Math.abs(skew) < 10) return "right";
  const amount = Math.abs(skew) < 1_000 ? `${Math.abs(Math.round(skew))} ms` : seconds(skew);
  return `${amount} ${skew > 0 ? "fast" : "slow"}`;
}

function seconds(ms: number): string {
  return durationText(Math.abs(ms) / 1_000);
}

function isWrong(skew: number | null): boolean {
  return skew !== null && Math.abs(skew) >= tellSkew;
}

function warningsOf(nodes: NodeView[]): string[] {
  const live = nodes.filter(({ status }) => status === "live");
  const versions = [...new Set(live.map(({ version }) => version))];
  return [
    ...live
      .filter(({ config_in_force }) => !config_in_force)
      .map(
        ({ name }) =>
          `${name} has read another configuration and takes no new jobs: give it the same files.`,
      ),
    ...live
      .filter(({ skew_ms }) => isWrong(skew_ms))
      .map(({ name }) => `the clock of ${name} is wrong: set it by a time server.`),
    ...(versions.length > 1 ? [`versions differ: ${versions.join(", ")}.`] : []),
  ];
}
