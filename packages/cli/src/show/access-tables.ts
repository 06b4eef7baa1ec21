import type { AccessToken, Login, StoredAuditRecord } from "@herdctl/core";
import { ageText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";
import { clockText } from "./wait-text.ts";

export function tokenTable(tokens: AccessToken[], now: Date, look: Look): string[] {
  const { bold, dim, red } = look.colors;
  const isOver = ({ expires_at }: AccessToken) =>
    expires_at !== null && Date.parse(expires_at) <= now.getTime();
  const columns: Column<AccessToken>[] = [
    { title: "TOKEN", text: ({ name }) => name, paint: () => bold },
    { title: "SCOPE", text: ({ scope }) => scope },
    {
      title: "EXPIRES",
      text: (token) => (isOver(token) ? "expired" : timeOr(token.expires_at, "never", now)),
      paint: (token) => (isOver(token) ? red : dim),
    },
    {
      title: "LAST USED",
      text: ({ last_used_at }) => (last_used_at ? `${ageText(last_used_at, now)} ago` : "never"),
      paint: () => dim,
    },
    { title: "BY", spare: true, text: ({ created_by }) => created_by, paint: () => dim },
    { title: "AGENTS", text: ({ agents }) => agents?.join(", ") ?? "all" },
  ];
  return tableLines(columns, harmlessAll(tokens), look);
}

export function loginTable(logins: Login[], now: Date, look: Look): string[] {
  const { bold, dim } = look.colors;
  const columns: Column<Login>[] = [
    { title: "LOGIN", text: ({ id }) => id.slice(0, 8), paint: () => bold },
    { title: "SCOPE", text: ({ scope }) => scope },
    { title: "SIGNED IN", text: ({ signed_in_at }) => `${ageText(signed_in_at, now)} ago` },
    { title: "FROM", text: ({ address }) => address },
    { title: "EXPIRES", spare: true, text: ({ expires_at }) => clockText(expires_at, now) },
    { title: "BROWSER", text: ({ user_agent }) => user_agent ?? "", paint: () => dim },
  ];
  return tableLines(columns, harmlessAll(logins), look);
}

export function auditTable(records: StoredAuditRecord[], look: Look): string[] {
  const { bold, dim, red, yellow } = look.colors;
  const columns: Column<StoredAuditRecord>[] = [
    { title: "#", align: "right", text: ({ number }) => String(number), paint: () => dim },
    { title: "TIME", text: ({ time }) => time.replace("T", " ").slice(0, 19) },
    { title: "IDENTITY", text: ({ identity }) => identity, paint: () => bold },
    { title: "FROM", spare: true, text: ({ origin }) => origin, paint: () => dim },
    { title: "ACTION", text: ({ action }) => action },
    { title: "TARGET", text: ({ target }) => target ?? "" },
    {
      title: "OUTCOME",
      text: ({ outcome, error }) => (error === null ? outcome : `${outcome}: ${error}`),
      paint: ({ outcome }) => (outcome === "ok" ? dim : outcome === "failed" ? red : yellow),
    },
    { title: "DETAILS", spare: true, text: detailsText, paint: () => dim },
  ];
  return tableLines(columns, harmlessAll(records), look);
}

function detailsText({ details }: StoredAuditRecord): string {
  const given = Object.entries(details).filter(([, value]) => value !== null);
  return given.map(([key, value]) => `${key}=${value}`).join(" ");
}

function timeOr(time: string | null, otherwise: string, now: Date): string {
  return time === null ? otherwise : clockText(time, now);
}
