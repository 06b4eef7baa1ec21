import { toFleetName } from "../schema/strings.ts";
import { translateAgent } from "./agent-rules.ts";
import { type Block, keyOf } from "./block.ts";
import { type WorkspaceDefaults, workspaceOf } from "./workspace-rules.ts";

const loopback = ["127.0.0.1", "::1", "localhost"];

/** The name of a fleet becomes part of paths. */
function translateFleetName(fleet: Block): void {
  const settings = fleet.block("fleet");
  const name = settings?.text("name");
  if (!fleet.isImport || name === undefined || toFleetName(name) === name) return;
  settings?.report("renamed", "name", "a name has letters, digits, `-` and `_` here");
  settings?.set("name", toFleetName(name));
}

/** A whole fleet file. Returns what its agents' repositories take from it. */
export function translateFleet(fleet: Block): WorkspaceDefaults {
  if (!fleet.has("version")) addVersion(fleet);
  translateFleetName(fleet);
  const workspace = moveWorkspaceDefaults(fleet);
  moveDocker(fleet);
  const defaults = fleet.block("defaults");
  if (defaults) translateAgent(defaults);
  for (const list of ["agents", "fleets"]) {
    for (const entry of fleet.blocks(list)) {
      const overrides = entry.block("overrides");
      if (overrides) translateAgent(overrides, workspace);
      else if (list === "agents" && entry.has("name")) translateAgent(entry, workspace);
    }
  }
  translateServer(fleet);
  fleet.drop(
    "ignored",
    "webhooks",
    "webhooks are served on the port of `server`, and each webhook schedule has a `signature`",
  );
  return workspace;
}

function addVersion(fleet: Block): void {
  fleet.report("renamed", "version", "`version: 1` is the version of the format");
  const { document } = fleet.translation;
  fleet.map.items.unshift(document.createPair("version", 1));
}

/** Only agents with a repository used the folder for clones. */
function moveWorkspaceDefaults(fleet: Block): WorkspaceDefaults {
  const found = [fleet.block("defaults"), fleet].map((outer) => {
    const inner = outer?.block("working_directory");
    const workspace = workspaceOf(inner);
    if (inner?.has("root"))
      outer?.drop(
        "ignored",
        "working_directory",
        "an agent with a `repo` names the folder itself here",
      );
    return workspace;
  });
  const fleetPath = fleet.text("working_directory");
  if (fleetPath !== undefined)
    fleet.drop(
      "decision",
      "working_directory",
      "agents name their folder themselves here; without one, it is the fleet's folder",
    );
  const [own = {}, outer = {}] = found;
  return {
    root: own.root ?? outer.root,
    branch: own.branch ?? outer.branch,
    depth: own.depth ?? outer.depth,
  };
}

/** `docker` of the fleet is part of `defaults` here. */
function moveDocker(fleet: Block): void {
  const docker = fleet.block("docker");
  if (docker === undefined) return;
  fleet.report("renamed", "docker", "`docker` of the fleet is `defaults.docker` here");
  const defaults = fleet.block("defaults");
  const inner = defaults?.block("docker");
  if (inner) {
    for (const pair of docker.map.items) if (!inner.has(keyOf(pair))) inner.map.items.push(pair);
    fleet.remove("docker");
    return;
  }
  if (defaults) {
    defaults.map.items.push(...fleet.map.items.filter((pair) => pair.value === docker.map));
    fleet.remove("docker");
    return;
  }
  const { document } = fleet.translation;
  const index = fleet.keys.indexOf("docker");
  const moved = document.createPair("defaults", {});
  fleet.map.items.splice(index, 1, moved);
  fleet.block("defaults")?.map.items.push(document.createPair("docker", docker.map));
}

function translateServer(fleet: Block): void {
  const web = fleet.block("web");
  if (web === undefined) return;
  const host = web.text("host");
  for (const key of ["session_expiry_hours", "open_browser", "tool_results", "message_grouping"])
    web.drop("ignored", key, "the dashboard has no such setting");
  if (web.value("enabled") === false)
    web.drop(
      "decision",
      "enabled",
      "the dashboard and the API are always served, on this machine only, and need a sign-in",
    );
  web.remove("enabled");
  if (host !== undefined && !loopback.includes(host))
    web.drop(
      "decision",
      "host",
      `to listen on ${host}, set \`server.host\` and \`server.token_env\``,
    );
  else if (host === "localhost") web.remove("host");
  if (fleet.has("server")) fleet.drop("ignored", "web", "`server` takes its place");
  else if (web.keys.length === 0)
    fleet.drop("ignored", "web", "`server` is enough without settings");
  else fleet.rename("web", "server");
}
