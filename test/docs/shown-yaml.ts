import { join } from "node:path";
import { jsonSchema, loadFleet } from "@herdctl/core";
import { loadScript } from "@herdctl/rehearsal";
import { parse } from "yaml";
import { folderWith } from "../support/folder.ts";

/** YAML of other programs that our pages show, known by one of its keys. */
const foreign = ["scrape_configs", "runs-on", "jobs", "services"];

/** Has a shown piece of YAML read by whatever would read it in earnest, and fails as that does. */
export async function readAsMeant(text: string): Promise<string> {
  const keys = Object.keys(parse(text) ?? {});
  const all = (known: string[]) => keys.length > 0 && keys.every((key) => known.includes(key));
  if (keys.some((key) => foreign.includes(key))) return "foreign";
  if (all(["mode", "keys", "default", "rules"])) {
    await loadScript(join(folderWith({ "script.yaml": text }), "script.yaml"));
    return "script";
  }
  if (all(keysOf("agent"))) {
    loadFiles({
      "herdctl.yaml": "version: 1\nfleet: { name: shown }\nagents: [{ path: agents/*.yaml }]\n",
      "agents/shown.yaml": keys.includes("name") ? text : `name: shown\n${text}`,
    });
    return "agent";
  }
  const rest = { version: "1", fleet: "{ name: shown }", agents: "[{ name: shown }]" };
  const missing = Object.entries(rest).filter(([key]) => !keys.includes(key));
  loadFiles({
    "herdctl.yaml": `${missing.map(([key, value]) => `${key}: ${value}\n`).join("")}${text}`,
  });
  return "fleet";
}

/** Variables that a page leaves to its reader are given a value. */
export function loadFiles(files: Record<string, string>): ReturnType<typeof loadFleet> {
  const named = Object.values(files).flatMap((text) => [...text.matchAll(/\$\{(\w+)\}/g)]);
  const env = Object.fromEntries(
    named.map(([, name = ""]) => [
      name,
      name === "HERDCTL_STORE" ? "postgres://herd@db.example.org/herd" : "https://example.com/x",
    ]),
  );
  return loadFleet(join(folderWith(files), "herdctl.yaml"), env);
}

function keysOf(of: "agent" | "fleet"): string[] {
  const { properties } = jsonSchema(of);
  return Object.keys(properties ?? {});
}
