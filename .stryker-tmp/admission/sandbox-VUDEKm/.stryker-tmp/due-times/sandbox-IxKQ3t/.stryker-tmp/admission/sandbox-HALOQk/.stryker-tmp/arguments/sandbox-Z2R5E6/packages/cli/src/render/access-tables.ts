import type { AccessToken, Login, StoredAuditRecord } from "@herdctl/protocol";
import { formatAge } from "./format-amounts.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { formatTime } from "./wait-text.ts";

export function tokenTable(tokens: AccessToken[], now: Date, style: TerminalStyle): string[] {
  const { bold, dim, red } = style.colors;
  const isExpired = ({ expires_at }: AccessToken) =>
    expires_at !== null && Date.parse(expires_at) <= now.getTime();
  const columns: Column<AccessToken>[] = [
    { title: "TOKEN", text: ({ name }) => name, color: () => bold },
    { title: "SCOPE", text: ({ scope }) => scope },
    {
      title: "EXPIRES",
      text: (token) =>
        isExpired(token) ? "expired" : formatTimeOr(token.expires_at, "never", now),
      color: (token) => (isExpired(token) ? red : dim),
    },
    {
      title: "LAST USED",
      text: ({ last_used_at }) => (last_used_at ? `${formatAge(last_used_at, now)} ago` : "never"),
      color: () => dim,
    },
    { title: "BY", hideIfNarrow: true, text: ({ created_by }) => created_by, color: () => dim },
    { title: "AGENTS", text: ({ agents }) => agents?.join(", ") ?? "all" },
  ];
  return tableLines(columns, sanitizeDeep(tokens), style);
}

export function loginTable(logins: Login[], now: Date, style: TerminalStyle): string[] {
  const { bold, dim } = style.colors;
  const columns: Column<Login>[] = [
    { title: "LOGIN", text: ({ id }) => id.slice(0, 8), color: () => bold },
    { title: "SCOPE", text: ({ scope }) => scope },
    { title: "SIGNED IN", text: ({ signed_in_at }) => `${formatAge(signed_in_at, now)} ago` },
    { title: "FROM", text: ({ address }) => address },
    { title: "EXPIRES", hideIfNarrow: true, text: ({ expires_at }) => formatTime(expires_at, now) },
    { title: "BROWSER", text: ({ user_agent }) => user_agent ?? "", color: () => dim },
  ];
  return tableLines(columns, sanitizeDeep(logins), style);
}

export function auditTable(records: StoredAuditRecord[], style: TerminalStyle): string[] {
  const { bold, dim, red, yellow } = style.colors;
  const columns: Column<StoredAuditRecord>[] = [
    { title: "#", align: "right", text: ({ number }) => String(number), color: () => dim },
    { title: "TIME", text: ({ time }) => time.replace("T", " ").slice(0, 19) },
    { title: "IDENTITY", text: ({ identity }) => identity, color: () => bold },
    { title: "FROM", hideIfNarrow: true, text: ({ origin }) => origin, color: () => dim },
    { title: "ACTION", text: ({ action }) => action },
    {
      title: "OUTCOME",
      text: ({ outcome, error }) => (error === null ? outcome : `${outcome}: ${error}`),
      color: ({ outcome }) => (outcome === "ok" ? dim : outcome === "failed" ? red : yellow),
    },
    { title: "TARGET", text: ({ target }) => target ?? "" },
    { title: "DETAILS", hideIfNarrow: true, text: formatDetails, color: () => dim },
  ];
  return tableLines(columns, sanitizeDeep(records), style);
}

function formatDetails({ details }: StoredAuditRecord): string {
  const present = Object.entries(details).filter(([, value]) => value !== null);
  return present.map(([key, value]) => `${key}=${value}`).join(" ");
}

function formatTimeOr(time: string | null, otherwise: string, now: Date): string {
  return time === null ? otherwise : formatTime(time, now);
}
