import { join } from "node:path";
import { jsonSchema, loadFleet } from "@herdctl/config";
import { loadScript } from "@herdctl/rehearsal";
import { parse } from "yaml";
import { tempFolderWith } from "../support/temp-folder.ts";

/** YAML of other programs on the pages, identified by one of its keys. */
const foreignKeys = ["scrape_configs", "runs-on", "jobs", "services"];

/** Validates a YAML block with the program that would read it, and throws if that fails. */
export async function validateYamlExample(text: string): Promise<string> {
  const keys = Object.keys(parse(text) ?? {});
  const all = (known: string[]) => keys.length > 0 && keys.every((key) => known.includes(key));
  if (keys.some((key) => foreignKeys.includes(key))) return "foreign";
  if (all(["mode", "keys", "default", "rules"])) {
    await loadScript(join(tempFolderWith({ "script.yaml": text }), "script.yaml"));
    return "script";
  }
  if (all(keysOf("agent"))) {
    loadExampleFiles({
      "herdctl.yaml": "version: 1\nfleet: { name: shown }\nagents: [{ path: agents/*.yaml }]\n",
      "agents/shown.yaml": keys.includes("name") ? text : `name: shown\n${text}`,
    });
    return "agent";
  }
  const rest = { version: "1", fleet: "{ name: shown }", agents: "[{ name: shown }]" };
  const missing = Object.entries(rest).filter(([key]) => !keys.includes(key));
  loadExampleFiles({
    "herdctl.yaml": `${missing.map(([key, value]) => `${key}: ${value}\n`).join("")}${text}`,
  });
  return "fleet";
}

/** Sets the variables that a page leaves to its reader. */
export function loadExampleFiles(files: Record<string, string>): ReturnType<typeof loadFleet> {
  const named = Object.values(files).flatMap((text) => [...text.matchAll(/\$\{(\w+)\}/g)]);
  const env = Object.fromEntries(
    named.map(([, name = ""]) => [
      name,
      name === "HERDCTL_STORE" ? "postgres://herd@db.example.org/herd" : "https://example.com/x",
    ]),
  );
  return loadFleet(join(tempFolderWith(files), "herdctl.yaml"), env);
}

function keysOf(of: "agent" | "fleet"): string[] {
  const { properties } = jsonSchema(of);
  return Object.keys(properties ?? {});
}
